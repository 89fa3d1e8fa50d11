/**
 * Profiles of programs of Rust with allocators of crates.io (`#[global_allocator]`): all allocations are counted, or the
 * module is refused. With `npm run test:full -- native`, which downloads the crates and builds them.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { createProfiler, instrument } from "../dist/profile.js";
import { PROGRAMS } from "./support/native_program.ts";

const OUTPUT = resolve(import.meta.dirname, "../build/native_allocators");
const MANIFEST = join(PROGRAMS, "allocators/Cargo.toml");

/** What the program allocates, whatever allocates it. */
const TRUTH = { objects: 592, bytes: 32_693 };

function compiled(feature: string | undefined, level: string): Uint8Array<ArrayBuffer> {
  const target = ["--target", "wasm32-unknown-unknown", "--target-dir", OUTPUT];
  const features = feature === undefined ? [] : ["--features", feature];
  const options = ["--manifest-path", MANIFEST, "--locked", ...features];
  const { status, stderr } = spawnSync(
    "cargo",
    ["build", "--quiet", "--release", ...target, ...options],
    { encoding: "utf8", env: { ...process.env, CARGO_PROFILE_RELEASE_OPT_LEVEL: level } },
  );
  expect(status, stderr).toBe(0);
  return readFileSync(join(OUTPUT, "wasm32-unknown-unknown/release/program.wasm"));
}

/** What the profiler counts while the program works. */
function counted(wasm: Uint8Array<ArrayBuffer>) {
  const program = instrument(wasm);
  const profiler = createProfiler(program, { interval: 1 });
  const module = new WebAssembly.Module(program.wasm as Uint8Array<ArrayBuffer>);
  const { exports } = new WebAssembly.Instance(module, { ...profiler.imports });
  profiler.attach(exports);
  (exports.work as () => void)();
  return profiler.totals();
}

describe.skipIf(process.env.TEST_NATIVE === undefined)("allocators of crates.io", () => {
  test.each(["0", "2", "3", "s"])("the standard library's, opt-level %s: counted", (level) => {
    expect(counted(compiled(undefined, level))).toEqual(TRUTH);
  });

  describe.each(["dlmalloc", "lol_alloc", "talc", "wee_alloc"])("%s", (feature) => {
    test("not optimised: all allocations are counted", () => {
      expect(counted(compiled(feature, "0"))).toEqual(TRUTH);
    });

    test.each(["2", "3", "s"])("opt-level %s, copied into its callers: refused", (level) => {
      expect(() => counted(compiled(feature, level))).toThrow(
        expect.objectContaining({
          code: "ERR_ALLOCATOR_MISSING",
          message: expect.stringContaining("copied into the functions that allocate"),
        }),
      );
    });
  });
});
