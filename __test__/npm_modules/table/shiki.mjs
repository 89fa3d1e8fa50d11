// Scanners of Shiki's engine that are never disposed.
import { createOnigurumaEngine } from "@shikijs/engine-oniguruma";

export default async () => {
  const engine = await createOnigurumaEngine(import("@shikijs/engine-oniguruma/wasm-inlined"));
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(engine.createScanner([`a{${nth + 1}}`, "b+"]));
  };
};
