// An instance of the program, beside the HTTP parser that Node loads for `fetch`.
const { readFileSync } = require("node:fs");

const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...source) => {
  const made = await instantiate(...source);
  console.log("ready");
  return made;
};
const module_ = new WebAssembly.Module(readFileSync(process.argv[2]));
globalThis.kept = new WebAssembly.Instance(module_, { env: { abort() {} } });
void globalThis.Response;
process.stdin.resume();
