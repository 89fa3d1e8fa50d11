// Prepared statements of Postgres that are never deallocated. It leaves its main function with bytes on its stack.
import { PGlite } from "@electric-sql/pglite";

export default async () => {
  const database = new PGlite();
  let nth = 0;
  return async () => {
    for (let end = nth + 100; nth < end; nth++) await database.exec(`prepare s${nth} as select 1`);
  };
};
