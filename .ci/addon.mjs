/** Builds the addon into dist/. `--release`: as it is published. Other options are those of `napi build`. */
import { spawnSync } from "node:child_process";

const NAPI =
  "--platform --package warpo-heap-analyzer --output-dir dist --js loader.js --dts loader.d.ts";

if (spawnSync("cargo", ["--version"], { stdio: "ignore" }).status !== 0) {
  console.log(
    "error: there is no cargo on the PATH. Building the addon takes Rust 1.89 or newer: install it from " +
      "https://rustup.rs and run this again. To use the package without building it: npm install @warpo/heap-analyzer",
  );
  process.exit(1);
}
const options = ["build", ...NAPI.split(" "), ...process.argv.slice(2)];
const { status } = spawnSync(
  process.execPath,
  ["node_modules/@napi-rs/cli/dist/cli.js", ...options],
  {
    stdio: "inherit",
  },
);
process.exit(status ?? 1);
