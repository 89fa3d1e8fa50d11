// The version of sql.js in the variable PACKAGE. exec() of 1.14.1 takes 16 bytes of stack and does not give them back; that
// of 1.16.0 does.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { instantiate } = WebAssembly;
/** The exports of its instance, and its module. */
export let sqlite;
export let wasm;
WebAssembly.instantiate = async (bytes, imports) => {
  const made = await instantiate(bytes, imports);
  wasm = bytes;
  sqlite = made.instance.exports;
  return made;
};
const SQL = await require(process.env.PACKAGE)();
const db = new SQL.Database();

export function round(calls = 1000) {
  for (let call = 0; call < calls; call++) db.exec("select 1");
}
