/**
 * Programs of crates.io, as rustc writes them, and after wasm-opt: the heap is read, and how many of its blocks have types. The
 * figures are in docs/evidence.md. They are no aim: nothing in the analyzer is for these programs.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap } from "../dist/index.js";
import { PROGRAMS } from "./support/native_program.ts";
import { typedShare } from "./support/typed_guest.ts";

const ROOT = resolve(import.meta.dirname, "..");
const OUTPUT = join(ROOT, "build/native_crates");
const MANIFEST = join(PROGRAMS, "crates/Cargo.toml");
const WASM_OPT = join(ROOT, "node_modules/.bin/wasm-opt");

/** With `npm run test:native`: it downloads the crates, and builds them. */
describe.skipIf(process.env.TEST_NATIVE === undefined).each([
  { crate: "toml_edit", feature: "toml" },
  { crate: "regex", feature: "regex" },
  { crate: "rhai", feature: "rhai" },
])("$crate", ({ crate, feature }) => {
  test.each(["dev", "release"])("%s: the heap is read, and blocks have types", (profile) => {
    mkdirSync(OUTPUT, { recursive: true });
    const target = ["--target", "wasm32-unknown-unknown", "--target-dir", OUTPUT];
    const options = ["--manifest-path", MANIFEST, "--locked", "--features", feature];
    const cargo = ["build", "--quiet", "--profile", profile, ...target, ...options];
    const built = spawnSync("cargo", cargo, { encoding: "utf8" });
    expect(built.status, built.stderr).toBe(0);
    const folder = join(OUTPUT, "wasm32-unknown-unknown", profile === "dev" ? "debug" : profile);
    const plain = join(folder, "programs.wasm");
    const optimised = join(folder, "programs-opt.wasm");
    const opt = ["-O2", "-g", "--all-features", plain, "-o", optimised];
    const made = spawnSync(WASM_OPT, opt, { encoding: "utf8" });
    expect(made.status, made.stderr).toBe(0);
    for (const file of [plain, optimised]) {
      const wasm = readFileSync(file);
      const module = new WebAssembly.Module(exposeGlobals(wasm));
      const imports: WebAssembly.Imports = {};
      for (const { module: from, name } of WebAssembly.Module.imports(module))
        imports[from] = { ...imports[from], [name]: () => 0 };
      const { exports } = new WebAssembly.Instance(module, imports);
      (exports.run as () => void)();
      const begin = performance.now();
      const heap = openHeap(captureDump(exports), wasm);
      const seconds = (performance.now() - begin) / 1000;
      const { blocks, bytes } = typedShare(heap);
      const { live } = heap.summary().objects;
      heap.close();
      console.info(
        `${crate}, ${profile}${file === optimised ? ", wasm-opt" : ""}: ${live} blocks, ` +
          `typed ${(100 * blocks).toFixed(1)} % of blocks and ${(100 * bytes).toFixed(1)} % of bytes; ` +
          `${(wasm.length / 2 ** 20).toFixed(1)} MiB opened in ${seconds.toFixed(2)} s`,
      );
      expect(live).toBeGreaterThan(100);
      expect(blocks).toBeGreaterThan(0.5);
    }
  });
});
