// A program whose disk is slow: while its memory of 3 pages is written, each page takes 2.2 s.
const fs = require("node:fs");
const write = fs.writeSync;
fs.writeSync = (file, bytes, from, size, at) => {
  if (bytes?.byteLength !== 3 * 65536) return write(file, bytes, from, size, at);
  for (const end = Date.now() + 2200; Date.now() < end; ) fs.fstatSync(file);
  return write(file, bytes, from, Math.min(65536, bytes.length - from), at);
};
const module_ = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
globalThis.instance = new WebAssembly.Instance(module_);
setInterval(() => {}, 1000);
console.log("ready");
