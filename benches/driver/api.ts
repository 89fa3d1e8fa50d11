/**
 * Calls `analyzeFile` once and reads the constructor rows: `node build/bench/api.js <dump> <wasm>`
 * prints how many seconds that took.
 */
import { analyzeFile } from "@warpo/heap-analyzer";

const [dump, wasm] = process.argv.slice(2) as [string, string];
const begin = process.hrtime.bigint();
const view = analyzeFile(dump, wasm);
const count = view.constructors.reduce((sum, row) => sum + row.count, 0);
const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
if (count === 0) throw new Error(`no objects in ${dump}`);
console.log(seconds);
