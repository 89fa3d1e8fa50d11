import { PGlite } from "@electric-sql/pglite";

const db = new PGlite();
const r = await db.query("select sum(g) from generate_series(1,1000) g");
console.log(JSON.stringify(r.rows));
await db.close();
