// Dumps at a trap, when memory.grow fails, and when the memory is larger than a limit.

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { analyzeFile } from "../dist/index.js";
import {
  type AsinitProject,
  createAsinitProject,
  NODE,
  PROGRAM,
} from "./support/asinit_project.ts";

const SOURCE = `${PROGRAM}
  export function trap(): void { unreachable(); }
  export function fail(): void { throw new Error("no"); }`;

let project: AsinitProject;
let dumps: string;

beforeAll(() => {
  project = createAsinitProject(SOURCE);
  // At most 2 MiB, so that memory.grow fails soon.
  project.build("--transform", "@warpo/heap-analyzer/asc-transform", "--maximumMemory", "32");
  dumps = join(project.folder, "heap-dumps");
});

beforeEach(() => rmSync(dumps, { recursive: true, force: true }));
afterAll(() => rmSync(project.folder, { recursive: true, force: true }));

/** Runs an ES module with `register`. */
function run(script: string, env: Record<string, string> = {}) {
  const file = join(project.folder, "script.mjs");
  writeFileSync(file, `import * as guest from "./build/debug.js"; ${script}`);
  const args = ["--import", "@warpo/heap-analyzer/register", file];
  return spawnSync(process.execPath, args, {
    cwd: project.folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
}

/** The files in the folder for dumps. */
function written(): string[] {
  try {
    return readdirSync(dumps);
  } catch {
    return [];
  }
}

function nodesIn(dump: string): number {
  const view = analyzeFile(dump, join(project.folder, "build/debug.wasm"));
  return view.constructors.find(({ className }) => className === NODE)?.count ?? 0;
}

describe("register with HEAP_DUMP_AT_TRAP", () => {
  const AT_TRAP = { HEAP_DUMP_AT_TRAP: "1" };

  test.each([
    ["a trap", "guest.add(9); guest.trap();"],
    ["an abort", "guest.add(9); guest.fail();"],
    ["a trap in a promise", "guest.add(9); Promise.resolve().then(() => guest.trap());"],
  ])("writes a dump at %s that is not caught", (_, script) => {
    const { status, stderr } = run(script, AT_TRAP);
    expect(status).not.toBe(0);
    expect(stderr).toContain("heap dump written: ");
    expect(written()).toHaveLength(1);
    expect(nodesIn(join(dumps, written()[0] as string))).toBe(9);
  });

  test("writes a dump when memory.grow fails", () => {
    const { stderr } = run("guest.add(10_000_000);", AT_TRAP);
    expect(stderr).toContain("heap dump written: ");
    expect(nodesIn(join(dumps, written()[0] as string))).toBeGreaterThan(10_000);
  });

  test.each([
    ["an error of the host", "throw new Error('of the host');"],
    ["a trap that is caught", "try { guest.trap(); } catch {}"],
  ])("writes none at %s", (_, script) => {
    run(script, AT_TRAP);
    expect(written()).toEqual([]);
  });

  test("is off by default", () => {
    run("guest.trap();");
    expect(written()).toEqual([]);
  });
});

describe("register with HEAP_DUMP_ABOVE_MIB", () => {
  const wait = "await new Promise((done) => setTimeout(done, 2500));";

  test("writes one dump when the memory is larger", () => {
    const { status, stderr } = run(`guest.add(20_000); ${wait}`, { HEAP_DUMP_ABOVE_MIB: "0.5" });
    expect(status).toBe(0);
    expect(stderr).toContain("heap dump: a memory is larger than 0.5 MiB");
    expect(written()).toHaveLength(1);
    expect(nodesIn(join(dumps, written()[0] as string))).toBe(20_000);
  });

  test("writes it at the end of a process that never rests", () => {
    run("guest.add(20_000);", { HEAP_DUMP_ABOVE_MIB: "0.5" });
    expect(written()).toHaveLength(1);
  });

  test("writes none while the memory is smaller", () => {
    run("guest.add(10);", { HEAP_DUMP_ABOVE_MIB: "1" });
    expect(written()).toEqual([]);
  });

  test("refuses what is no number", () => {
    const { status, stderr } = run("", { HEAP_DUMP_ABOVE_MIB: "1G" });
    expect(status).not.toBe(0);
    expect(stderr).toContain('HEAP_DUMP_ABOVE_MIB is "1G": expected a number of MiB above 0');
  });
});

describe("the capture API", () => {
  const IMPORT = "import { writeDumpAbove, writeDumpOnTrap } from '@warpo/heap-analyzer/capture';";

  test("writes a dump at a trap and when memory.grow fails, and throws the error on", () => {
    const { stdout, stderr } = run(`${IMPORT}
      guest.add(3);
      for (const [file, work] of [
        ["heap-dumps/trap.dump", () => guest.trap()],
        ["heap-dumps/full.dump", () => guest.add(10_000_000)],
        ["heap-dumps/host.dump", () => { throw new Error("of the host"); }],
      ]) {
        try { writeDumpOnTrap(guest, file, work); } catch (error) { console.log(error.name); }
      }
      console.log(writeDumpOnTrap(guest, "heap-dumps/none.dump", () => 7));`);
    expect(stderr).toBe("");
    expect(stdout).toBe("RuntimeError\nRuntimeError\nError\n7\n");
    expect(written()).toEqual(["full.dump", "trap.dump"]);
    expect(nodesIn(join(dumps, "trap.dump"))).toBe(3);
    expect(nodesIn(join(dumps, "full.dump"))).toBeGreaterThan(10_000);
  });

  test("writes a dump when the memory is larger than some bytes", () => {
    const { stdout } = run(`${IMPORT}
      console.log(writeDumpAbove(guest, "heap-dumps/a.dump", 2 ** 20));
      guest.add(40_000);
      console.log(writeDumpAbove(guest, "heap-dumps/b.dump", 2 ** 20));`);
    expect(stdout).toBe("false\ntrue\n");
    expect(written()).toEqual(["b.dump"]);
  });
});

test.skipIf(process.platform === "win32")(
  "every file that a capture writes is for its owner only",
  () => {
    run("guest.add(40_000); guest.trap();", { HEAP_DUMP_AT_TRAP: "1", HEAP_DUMP_ABOVE_MIB: "1" });
    run(`import { writeDump, writeDumpAbove } from '@warpo/heap-analyzer/capture';
      writeDump(guest, "heap-dumps/written.dump");
      writeDumpAbove(guest, "heap-dumps/above.dump", 0);`);
    const modes = written().map((name) => statSync(join(dumps, name)).mode & 0o777);
    expect(modes.length).toBeGreaterThanOrEqual(4);
    expect(modes.every((mode) => mode === 0o600)).toBe(true);
  },
);
