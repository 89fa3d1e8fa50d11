// A leak test whose work is a round of calls. Prints its error.
import { createRequire } from "node:module";
import { round, sqlite, wasm } from "./sqljs_exec.mjs";

const { expectNoLeak } = createRequire(import.meta.url)("../../../dist/testing.js");

await expectNoLeak({ instance: sqlite, wasm, run: () => round() }).then(
  () => console.log("no leak"),
  ({ message }) => console.log(message),
);
