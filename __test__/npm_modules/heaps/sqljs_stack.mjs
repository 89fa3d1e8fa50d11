// Ten dumps, each after a round of calls.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { round, sqlite, wasm } from "./sqljs_exec.mjs";

const { writeDump } = createRequire(import.meta.url)("../../../dist/capture.js");
const { HEAPS: heaps } = process.env;

writeFileSync(join(heaps, "sql.wasm"), wasm);
for (let nth = 0; nth < 10; nth++) {
  round();
  writeDump(sqlite, join(heaps, `${nth}.dump`));
}
