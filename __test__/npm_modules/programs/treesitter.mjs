import { fileURLToPath } from "node:url";
import { Language, Parser } from "web-tree-sitter";

await Parser.init();
const l = await Language.load(
  fileURLToPath(
    new URL("../node_modules/tree-sitter-javascript/tree-sitter-javascript.wasm", import.meta.url),
  ),
);
const p = new Parser();
p.setLanguage(l);
const t = p.parse("function f(a){return a+1}\n".repeat(200));
console.log(t.rootNode.descendantCount, t.rootNode.toString().length);
