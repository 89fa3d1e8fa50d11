// 150 trees of six nodes, which JavaScript keeps.
import { readFileSync } from "node:fs";
import init from "yoga-wasm-web";

const file = new URL("../node_modules/yoga-wasm-web/dist/yoga.wasm", import.meta.url);
const Yoga = await init(readFileSync(file));
const kept = Array.from({ length: 150 }, () => {
  const root = Yoga.Node.create();
  for (let nth = 0; nth < 5; nth++) root.insertChild(Yoga.Node.create(), nth);
  root.calculateLayout(100, 100);
  return root;
});
console.log(JSON.stringify({ roots: kept.length }));
