// SQLite counts the blocks and the bytes that it has allocated. The package's own glue is for browsers, so this drives the
// module: it has five blocks of its own, which SQLite counts too.
import { readFileSync } from "node:fs";

const file = "../node_modules/@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm/sqlite3.wasm";
const module = new WebAssembly.Module(readFileSync(new URL(file, import.meta.url)));
const memory = new WebAssembly.Memory({ initial: 256, maximum: 32768 });
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  imports[from] = { ...imports[from], [name]: () => 0 };
}
imports.env.memory = memory;
imports.env.emscripten_resize_heap = (size) => {
  memory.grow(Math.ceil((size - memory.buffer.byteLength) / 65536));
  return 1;
};
// There are no files: ENOENT.
imports.env.__syscall_openat = () => -44;
imports.wasi_snapshot_preview1.environ_sizes_get = (count, size) => {
  new DataView(memory.buffer).setUint32(count, 0, true);
  new DataView(memory.buffer).setUint32(size, 0, true);
  return 0;
};
const { exports: sqlite } = new WebAssembly.Instance(module, imports);

function text(value) {
  const bytes = new TextEncoder().encode(`${value}\0`);
  const block = sqlite.sqlite3_malloc(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, block);
  return block;
}
const word = (at) => new DataView(memory.buffer).getUint32(at, true);

sqlite.__wasm_call_ctors();
sqlite.sqlite3_initialize();
const [name, out, create, insert] = [
  text(":memory:"),
  sqlite.sqlite3_malloc(16),
  text("create table t(a, b)"),
  text(
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) " +
      "insert into t select i, hex(zeroblob(i % 150)) from n",
  ),
];
const opened = sqlite.sqlite3_open_v2(name, out, 0x86, 0);
const db = word(out);
const codes = [create, insert].map((sql) => sqlite.sqlite3_exec(db, sql, 0, 0, 0));
const query = text("select count(*) from t where b like '%00%'");
const prepared = sqlite.sqlite3_prepare_v2(db, query, -1, out, 0);
sqlite.sqlite3_step(word(out));
const status = (which) => {
  sqlite.sqlite3_status(which, out + 8, out + 12, 0);
  return word(out + 8);
};
const [used, count] = [status(0), status(9)];
console.log(JSON.stringify({ used, count, failed: [opened, ...codes, prepared].some(Boolean) }));
