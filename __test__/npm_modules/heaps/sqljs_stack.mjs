// exec() of sql.js 1.14.1 takes 16 bytes of stack and does not give them back; that of 1.16.0 does. Ten dumps, each after
// 1,000 calls of the version in the variable PACKAGE.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const { writeDump } = require("../../../dist/capture.js");
const { HEAPS: heaps, PACKAGE: sqljs } = process.env;

const { instantiate } = WebAssembly;
let sqlite;
WebAssembly.instantiate = async (wasm, imports) => {
  const made = await instantiate(wasm, imports);
  writeFileSync(join(heaps, "sql.wasm"), wasm);
  sqlite = made.instance.exports;
  return made;
};
const SQL = await require(sqljs)();
const db = new SQL.Database();
for (let nth = 0; nth < 10; nth++) {
  for (let call = 0; call < 1000; call++) db.exec("select 1");
  writeDump(sqlite, join(heaps, `${nth}.dump`));
}
