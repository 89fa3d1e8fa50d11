// Postgres, which leaves its main function with bytes on its stack.
import { PGlite } from "@electric-sql/pglite";

export default async () => {
  const database = new PGlite();
  return () => database.query("select 1");
};
