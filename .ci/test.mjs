/** `npm test`: the tests that every change has to pass. `npm run test:full` has those that take long. */
import { CARGO, hostTarget, runAll, VITEST } from "./steps.mjs";

await runAll([
  { name: "addon and JavaScript", command: "npm run --silent build:quick" },
  { name: "tests of the crates", command: `cargo test --quiet ${hostTarget()}`, counted: CARGO },
  { name: "tests of the package", command: "npx vitest run", counted: VITEST },
]);
