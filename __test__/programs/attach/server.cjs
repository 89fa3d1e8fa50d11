// A program that was not prepared: it works when the test sends a line, and waits. With `--expose`, its module
// is exposed and it writes a dump itself, for comparison.
const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");

const [, , wasm, mode, dump] = process.argv;
const bytes = readFileSync(wasm);
const imports = { env: { abort() { throw new Error("abort"); } } };
const capture = mode === "--expose" ? require("@warpo/heap-analyzer/capture") : undefined;
const compiled = new WebAssembly.Module(capture ? capture.exposeGlobals(bytes) : bytes);
const { exports: program } = new WebAssembly.Instance(compiled, imports);
program.work?.(3);

if (mode === "--busy") {
  console.log("ready");
  // It ends by itself if the test is killed.
  for (const end = Date.now() + 60_000; Date.now() < end; ) program.hold(1e9);
} else {
  if (capture) capture.writeDump(program, dump);
  createInterface({ input: process.stdin }).on("line", (line) => {
    if (line === "collect") program.__collect();
    else if (line === "hold") program.hold(1000);
    else program.work(Number(line));
    console.log("done");
  });
  console.log("ready");
}
