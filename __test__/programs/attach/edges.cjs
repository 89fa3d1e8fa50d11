// Instances of all modules of a folder. With `--expose`, the modules are exposed and the dumps are written beside them,
// for comparison; otherwise the process waits.
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const [, , folder, mode] = process.argv;
const capture = mode === "--expose" ? require("@warpo/heap-analyzer/capture") : undefined;
globalThis.kept = [];
for (const name of readdirSync(folder).filter((name) => name.endsWith(".wasm"))) {
  const bytes = readFileSync(join(folder, name));
  const compiled = new WebAssembly.Module(capture ? capture.exposeGlobals(bytes) : bytes);
  const shared = name.startsWith("shared");
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 4, shared });
  const imports = { env: { memory, abort() { throw new Error("abort"); } } };
  const instance = new WebAssembly.Instance(compiled, imports);
  const { exports: program } = instance;
  program.work?.(20);
  program.hold?.({ of: "the host" });
  kept.push(instance);
  if (capture) capture.writeDump(program, join(folder, `${name}.dump`));
}
console.log("ready");
// It ends by itself if the test is killed.
if (!capture) setTimeout(() => {}, 60_000);
