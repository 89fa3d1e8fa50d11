// Trees of a source that are never deleted.
import { createRequire } from "node:module";
import { Language, Parser } from "web-tree-sitter";

export default async () => {
  await Parser.init();
  const { resolve } = createRequire(import.meta.url);
  const language = await Language.load(
    resolve("tree-sitter-javascript/tree-sitter-javascript.wasm"),
  );
  const parser = new Parser().setLanguage(language);
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(parser.parse(`let a${nth} = ${nth};`));
  };
};
