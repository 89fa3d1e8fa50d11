// A program that was not prepared and works all the time: it keeps every session. With `--bounded` it keeps the last 100.
// With `--fill-after <file>` it fills its memory when there is such a file.
const { existsSync, readFileSync } = require("node:fs");

const [, , wasm, mode, argument = "100000"] = process.argv;
const imports = { env: { abort() { throw new Error("abort"); } } };
const compiled = new WebAssembly.Module(readFileSync(wasm));
const { exports: program } = new WebAssembly.Instance(compiled, imports);
let left = mode === "--fill-after" ? 100000 : Number(argument);
const timer = setInterval(() => {
  if (mode === "--bounded") program.serveBounded(10);
  else program.serve(mode === "--fill-after" && existsSync(argument) ? 1_000_000 : 10);
  if (--left === 0) clearInterval(timer);
}, 10);
