// Statements that are never freed.
import init from "sql.js";

export default async () => {
  const { Database } = await init();
  const database = new Database();
  database.run("create table t (a)");
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(database.prepare(`select ${nth} from t`));
  };
};
