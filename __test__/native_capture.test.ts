// Dumps of a program of C that was not prepared, with and without names: by register, and by attach.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { clang, hasClang, PROGRAMS, stripped } from "./support/native_program.ts";

let folder: string;
const running: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-capture-"));
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const HOST = join(PROGRAMS, "host.mjs");
const ROOT = join(import.meta.dirname, "..");

/** The number of blocks in a dump. */
const blocksOf = (dump: string, file: string) => {
  const heap = openHeap(readFileSync(dump), readFileSync(file));
  const { live } = heap.summary().objects;
  heap.close();
  return live;
};

const aliveIn = (output: string) => Number(/alive: (\d+)/.exec(output)?.[1]);

describe.skipIf(!hasClang).each([
  { title: "with names", change: (file: string) => file },
  { title: "without names", change: stripped },
])("a module $title", ({ title, change }) => {
  let file: string;
  beforeAll(() => {
    const output = join(folder, `guest-${title.replaceAll(" ", "-")}.wasm`);
    expect(clang(output, "guest", "-O2")).toMatchObject({ status: 0 });
    file = change(output);
  });

  test("is captured after register was loaded", () => {
    const dump = join(folder, `${title}.registered.dump`);
    const args = ["--import", "@warpo/heap-analyzer/register", HOST, file, dump];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    const alive = aliveIn(stdout);
    expect(alive, stderr).toBeGreaterThan(1000);
    expect(blocksOf(dump, file)).toBe(alive);
  });

  test("is captured by attach", async () => {
    const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", HOST, file], { cwd: ROOT });
    running.push(child);
    let errors = "";
    child.stderr.on("data", (text) => {
      errors += String(text);
    });
    let output = "";
    for await (const text of child.stdout) {
      output += String(text);
      if (output.includes("alive: ")) break;
    }
    const target = await attach(/ws:\/\/\S+/.exec(errors)?.[0] as string);
    const dump = join(folder, `${title}.attached.dump`);
    const wasmOutput = join(folder, `${title}.attached.wasm`);
    await target.writeDump(dump, { wasmOutput });
    target.close();
    expect(blocksOf(dump, wasmOutput)).toBe(aliveIn(output));
  });
});
