/** The gate: what CI asks of every change, on one machine. `.ci/run` starts it. */
import { CLOSING, hostTarget, runAll } from "./steps.mjs";

await runAll([
  { name: "format of Rust", command: "cargo fmt --all --check" },
  {
    // Downloads leave a core free, on which the crates compile.
    name: "npm packages, and compiling the crates",
    command: `cargo test --no-run --quiet ${hostTarget()} & crates=$!; npm run --silent setup && wait $crates`,
  },
  { name: "format and lint of JavaScript", command: "npx biome ci" },
  { name: "npm test", command: "npm test", counted: CLOSING },
  { name: "clippy", command: "cargo clippy --workspace --all-targets -- -D warnings" },
  { name: "types of JavaScript", command: "npm run --silent lint:types" },
]);
