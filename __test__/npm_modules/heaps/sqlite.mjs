// SQLite counts the bytes that it has allocated, and writes the size of each block in front of it.
import init from "@sqlite.org/sqlite-wasm";

const { capi, oo1, wasm } = await init({ print: () => {}, printErr: () => {} });
const db = new oo1.DB(":memory:");
db.exec("create table t(a, b)");
for (let i = 0; i < 2000; i++) db.exec({ sql: "insert into t values(?, ?)", bind: [i, "x".repeat(i % 200)] });
const statements = [1, 2, 3].map((nth) => db.prepare(`select a from t where b like '${nth}%'`));
const [current, highest] = [wasm.alloc(8), wasm.alloc(8)];
capi.sqlite3_status(capi.SQLITE_STATUS_MEMORY_USED, current, highest, 0);
const used = wasm.peek(current, "i32");
capi.sqlite3_status(capi.SQLITE_STATUS_MALLOC_COUNT, current, highest, 0);
const count = wasm.peek(current, "i32");
console.log(JSON.stringify({ used, count, statements: statements.length }));
