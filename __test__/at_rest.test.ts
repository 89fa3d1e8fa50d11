/** Whether a dump says that no function of the program was running: then bytes of the stack are kept since its start. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import binaryen from "binaryen";
import { expect, test } from "vitest";
import { captureDump, exposeGlobals, writeDumpOnTrap } from "../dist/capture.js";
import { openHeap } from "../dist/index.js";

/** A module of C that keeps 16 bytes of its stack after `begin`. */
const module = binaryen.parseText(`(module
  (import "host" "during" (func $during))
  (global $__stack_pointer (mut i32) (i32.const 66560))
  (memory (export "memory") 2)
  (func (export "begin")
    (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (i32.const 16))))
  (func (export "call") (call $during))
  (func (export "trap") (unreachable)))`);
binaryen.setDebugInfo(true);
const wasm = module.emitBinary();

const SAMPLE = join(import.meta.dirname, "samples/native/clang-14-O0");
const AT_REST = 0x4000_0002;
const versionOf = (dump: Uint8Array) =>
  new DataView(dump.buffer, dump.byteOffset).getUint32(4, true);

function instantiated() {
  let inside: Uint8Array | undefined;
  const during = () => {
    inside = captureDump(exports);
  };
  const compiled = new WebAssembly.Module(exposeGlobals(wasm) as Uint8Array<ArrayBuffer>);
  const { exports } = new WebAssembly.Instance(compiled, { host: { during } });
  const program = exports as Record<"begin" | "call" | "trap", () => void>;
  return { exports, program, inside: () => inside as Uint8Array };
}

test("a dump between two calls says so, one from inside a call does not", () => {
  const { exports, program, inside } = instantiated();
  expect(versionOf(captureDump(exports))).toBe(2);
  program.begin();
  expect(versionOf(captureDump(exports))).toBe(AT_REST);
  program.call();
  expect(versionOf(inside())).toBe(2);
});

test("the way in which a program prints its stacks does not matter, and stays as it is", () => {
  const { exports, program, inside } = instantiated();
  program.begin();
  const { stackTraceLimit } = Error;
  const prepare = () => "nothing";
  Error.stackTraceLimit = 0;
  Error.prepareStackTrace = prepare;
  try {
    program.call();
    expect(versionOf(inside())).toBe(2);
    expect(versionOf(captureDump(exports))).toBe(AT_REST);
    expect(Error.stackTraceLimit).toBe(0);
    expect(Error.prepareStackTrace).toBe(prepare);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = undefined as unknown as typeof prepare;
  }
});

test("after a trap, the stack is as it was in the function that trapped", () => {
  const folder = mkdtempSync(join(tmpdir(), "at-rest-"));
  const { exports, program } = instantiated();
  program.begin();
  const path = join(folder, "trap.dump");
  expect(() => writeDumpOnTrap(exports, path, program.trap)).toThrow(WebAssembly.RuntimeError);
  expect(versionOf(readFileSync(path))).toBe(2);
  rmSync(folder, { recursive: true });
});

test("a dump from inside a call has the warning about running functions, one that says that it is none has not", () => {
  const wasm = gunzipSync(readFileSync(join(SAMPLE, "guest.wasm.gz")));
  const dump = gunzipSync(readFileSync(join(SAMPLE, "guest.dump.gz")));
  const codesOf = () => {
    const heap = openHeap(dump, wasm);
    const codes = heap.warnings.map(({ code }) => code);
    heap.close();
    return codes;
  };
  const running = codesOf();
  expect(running).toContain("WARN_FRAMES_ACTIVE");
  dump.writeUInt32LE(AT_REST, 4);
  expect(codesOf()).toEqual(running.filter((code) => code !== "WARN_FRAMES_ACTIVE"));
});
