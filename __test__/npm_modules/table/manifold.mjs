// Solids that are never deleted.
import init from "manifold-3d";

export default async () => {
  const module = await init();
  module.setup();
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(module.Manifold.cube([nth + 1, 1, 1]));
  };
};
