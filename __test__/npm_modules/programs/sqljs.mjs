import init from "sql.js";

const S = await init();
const db = new S.Database();
db.run("create table t(a,b)");
for (let i = 0; i < 500; i++) db.run("insert into t values(?,?)", [i, "x".repeat(i % 50)]);
console.log(JSON.stringify(db.exec("select count(*),sum(a),sum(length(b)) from t")));
console.log(db.export().length);
