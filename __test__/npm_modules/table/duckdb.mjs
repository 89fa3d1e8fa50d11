// Prepared statements of DuckDB, in this thread, that are never closed.
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
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(connection.prepare(`select ${nth}`));
  };
};
