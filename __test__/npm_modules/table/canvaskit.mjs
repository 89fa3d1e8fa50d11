// Paints that are never deleted.
import init from "canvaskit-wasm";

export default async () => {
  const { Paint } = await init();
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new Paint());
  };
};
