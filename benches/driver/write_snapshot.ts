/** Writes a heap snapshot of V8: `node build/bench/write_snapshot.js <nodes> <file.heapsnapshot>`. */
import { writeSnapshot } from "./snapshot.js";

const [nodes, path] = process.argv.slice(2);
if (nodes === undefined || path === undefined) {
  throw new Error("usage: write_snapshot <nodes> <file>");
}
writeSnapshot(Number(nodes), path);
