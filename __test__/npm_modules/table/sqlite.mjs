// Statements of SQLite that are never finalised. The glue of the package asks for its module by an address.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);
const folder = resolve("@sqlite.org/sqlite-wasm/package.json").replace(
  "package.json",
  "sqlite-wasm/jswasm/",
);
globalThis.self = globalThis;
globalThis.location = { href: `file://${folder}`, pathname: "/" };

export default async () => {
  const { default: init } = await import(`${folder}sqlite3.mjs`);
  const sqlite = await init({ wasmBinary: readFileSync(`${folder}sqlite3.wasm`), print() {} });
  const database = new sqlite.oo1.DB();
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(database.prepare(`select ${nth}`));
  };
};
