// As SQLite, but the build exports no function that counts: the sizes in front of the blocks do.
import init from "sql.js";

const SQL = await init();
const db = new SQL.Database();
db.run("create table t(a, b)");
for (let i = 0; i < 500; i++) db.run("insert into t values(?, ?)", [i, "x".repeat(i % 50)]);
console.log(JSON.stringify({ rows: db.exec("select count(*) from t")[0].values[0][0] }));
