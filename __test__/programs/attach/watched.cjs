// A program that was not prepared and works all the time: it keeps every session. With `--bounded` it keeps the last 100.
// When there is such a file, it fills its memory with `--fill-after <file>`, and ends with `--end-after <file>`.
const { existsSync, readFileSync } = require("node:fs");

const [, , wasm, mode, file = ""] = process.argv;
const imports = { env: { abort() { throw new Error("abort"); } } };
const compiled = new WebAssembly.Module(readFileSync(wasm));
const { exports: program } = new WebAssembly.Instance(compiled, imports);
const timer = setInterval(() => {
  const isThere = existsSync(file);
  if (mode === "--end-after" && isThere) clearInterval(timer);
  else if (mode === "--bounded") program.serveBounded(10);
  else program.serve(mode === "--fill-after" && isThere ? 1_000_000 : 10);
}, 10);
