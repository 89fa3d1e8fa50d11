/**
 * Programs of crates.io, as rustc writes them, and after wasm-opt: the heap is read, and how many of its blocks have types. The
 * figures are in docs/numbers.md. They are no aim: nothing in the analyzer is for these programs. And the guests of the other
 * tests after wasm-opt, with the same aim as without it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap } from "../dist/index.js";
import { PATH, PROGRAMS } from "./support/native_program.ts";
import { dumpedWithTypes, typedShare } from "./support/typed_guest.ts";

const ROOT = resolve(import.meta.dirname, "..");
const OUTPUT = join(ROOT, "build/native_crates");
const MANIFEST = join(PROGRAMS, "crates/Cargo.toml");
const WASM_OPT = join(ROOT, "node_modules/.bin/wasm-opt");

/** What the compilers use, and every version of Node reads. */
const FEATURES = ["bulk-memory", "sign-ext", "nontrapping-float-to-int", "mutable-globals"]
  .concat(["multivalue", "reference-types"])
  .map((feature) => `--enable-${feature}`);

/** The same module, optimised again, with debug information. */
const optimised = (file: string) => {
  const output = file.replace(/\.wasm$/, "-opt.wasm");
  const args = ["-O2", "-g", ...FEATURES, file, "-o", output];
  const { status, stderr } = spawnSync(WASM_OPT, args, { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return output;
};
const percent = (part: number) => `${(100 * part).toFixed(1)} %`;

const EMXX = ["-g", "-O2", "-fno-exceptions", "-sSTANDALONE_WASM", "-sALLOW_MEMORY_GROWTH"];
const GUESTS = [
  { name: "C", command: ["clang", "--target=wasm32-wasi", "-g", "-O2", "guest.c"] },
  { name: "C++", command: ["em++", ...EMXX, "-sERROR_ON_UNDEFINED_SYMBOLS=0", "guest.cpp"] },
  {
    name: "Rust",
    command: ["rustc", "-g", "-Copt-level=2", "--target=wasm32-unknown-unknown", "guest.rs"],
  },
];

describe.skipIf(process.env.TEST_NATIVE === undefined)("after wasm-opt", () => {
  test.each(GUESTS)("$name: blocks have types as before", ({ name, command }) => {
    mkdirSync(OUTPUT, { recursive: true });
    const file = join(OUTPUT, `guest-${name}.wasm`);
    const [program, ...args] = command as [string, ...string[]];
    const options = { cwd: PROGRAMS, env: { ...process.env, PATH }, encoding: "utf8" } as const;
    const { status, stderr } = spawnSync(program, [...args, "-o", file], options);
    expect(status, stderr).toBe(0);
    const [before, after] = [file, optimised(file)].map((wasm) => {
      const guest = dumpedWithTypes(wasm);
      const heap = openHeap(guest.dump, guest.wasm);
      const share = typedShare(heap);
      heap.close();
      return share;
    });
    console.info(
      `${name}, wasm-opt: ${percent(after?.blocks ?? 0)}, ${percent(after?.bytes ?? 0)}`,
    );
    expect(after).toEqual(before);
    expect(after?.blocks).toBeGreaterThan(0.95);
    expect(after?.bytes).toBeGreaterThan(0.9);
  });
});

/** With `npm run test:full -- native`: it downloads the crates, and builds them. */
describe.skipIf(process.env.TEST_NATIVE === undefined).each([
  { crate: "toml_edit", feature: "toml", least: 0.95 },
  { crate: "regex", feature: "regex", least: 0.95 },
  { crate: "rhai", feature: "rhai", least: 0.2 },
])("$crate", ({ crate, feature, least }) => {
  test.each(["dev", "release"])("%s: the heap is read, and blocks have types", (profile) => {
    mkdirSync(OUTPUT, { recursive: true });
    const target = ["--target", "wasm32-unknown-unknown", "--target-dir", OUTPUT];
    const options = ["--manifest-path", MANIFEST, "--locked", "--features", feature];
    const cargo = ["build", "--quiet", "--profile", profile, ...target, ...options];
    const built = spawnSync("cargo", cargo, { encoding: "utf8" });
    expect(built.status, built.stderr).toBe(0);
    const folder = join(OUTPUT, "wasm32-unknown-unknown", profile === "dev" ? "debug" : profile);
    const plain = join(folder, "programs.wasm");
    const again = optimised(plain);
    for (const file of [plain, again]) {
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
        `${crate}, ${profile}${file === again ? ", wasm-opt" : ""}: ${live} blocks, ` +
          `typed ${percent(blocks)} of blocks and ${percent(bytes)} of bytes; ` +
          `${(wasm.length / 2 ** 20).toFixed(1)} MiB opened in ${seconds.toFixed(2)} s`,
      );
      expect(live).toBeGreaterThan(100);
      expect(blocks).toBeGreaterThan(least);
    }
  });
});
