/**
 * Builds dist/app.html, the page with the engine inside: the module of WebAssembly, the worker, and the page of
 * `build:js`. Takes the target wasm32-unknown-unknown of Rust.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

/** What the page may have, in bytes. */
const LARGEST = 3_000_000;

const run = (program, ...options) => execFileSync(program, options, { stdio: "inherit" });
const require = createRequire(import.meta.url);

mkdirSync("build/app", { recursive: true });
const built = `${process.env.CARGO_TARGET_DIR ?? "target"}/wasm32-unknown-unknown/web/web.wasm`;
const cargo = "build --profile web --target wasm32-unknown-unknown --package heap-analyzer-web";
run("cargo", ...cargo.split(" "));
run("node_modules/.bin/vite", "build", "--config", "vite.app.config.mts");
const { appFile } = require("../dist/report_file.js");
const html = appFile({
  module: readFileSync(built),
  worker: readFileSync("build/app/app_worker.js"),
});
const size = Buffer.byteLength(html);
if (size > LARGEST) throw new Error(`dist/app.html has ${size} bytes: at most ${LARGEST}`);
writeFileSync("dist/app.html", html);
console.log(`dist/app.html: ${size} bytes`);
