// A parser with a memory that it imports, and a language that is a side module.
import { fileURLToPath } from "node:url";
import { Language, Parser } from "web-tree-sitter";

await Parser.init();
const file = "../node_modules/tree-sitter-javascript/tree-sitter-javascript.wasm";
const language = await Language.load(fileURLToPath(new URL(file, import.meta.url)));
const parser = new Parser();
parser.setLanguage(language);
const tree = parser.parse("function f(a){return a+1}\n".repeat(200));
console.log(JSON.stringify({ nodes: tree.rootNode.descendantCount }));
