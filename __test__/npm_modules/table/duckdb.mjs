// DuckDB, in this thread.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const {
  ConsoleLogger,
  createDuckDB,
  LogLevel,
  NODE_RUNTIME,
} = require("@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs");

export default async () => {
  const folder = dirname(require.resolve("@duckdb/duckdb-wasm/dist/duckdb-node-blocking.cjs"));
  const files = { mainModule: join(folder, "duckdb-eh.wasm"), mainWorker: null };
  const logger = new ConsoleLogger(LogLevel.NONE);
  const database = await createDuckDB({ mvp: files, eh: files }, logger, NODE_RUNTIME);
  await database.instantiate();
  const connection = database.connect();
  return () => connection.query("select sum(range) from range(1000)").toArray();
};
