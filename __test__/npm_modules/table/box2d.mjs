// Worlds of physics that are never destroyed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import init from "box2d-wasm";

export default async () => {
  const wasm = createRequire(import.meta.url).resolve("box2d-wasm/dist/umd/Box2D.simd.wasm");
  const { b2Vec2, b2World } = await init({ wasmBinary: readFileSync(wasm) });
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 20; nth++) kept.push(new b2World(new b2Vec2(0, 10)));
  };
};
