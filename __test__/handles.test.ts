/** `HEAP_HANDLES`: who pinned which object, beside each dump. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  bridgeFolder,
  captureProgram,
  groupsNotSeen,
  readBridgeTruth,
  shownNumbers,
} from "./support/bridge.ts";

interface HandlesFile {
  format: string;
  dumpSize: number;
  dumpSha256: string;
  pinned: number;
  sampled: number;
  stacks: string[][];
  pins: [address: number, stack: number][];
}

const REGISTER = ["--import", "@warpo/heap-analyzer/register"];

let folder: Awaited<ReturnType<typeof bridgeFolder>>;

beforeAll(async () => {
  folder = await bridgeFolder("--debug");
});
afterAll(() => rmSync(folder.folder, { recursive: true, force: true }));

function watched(program: string) {
  const env = { HEAP_HANDLES: "1" };
  const { prefix, printed } = captureProgram(folder, program, "closures", { flags: REGISTER, env });
  const file: HandlesFile = JSON.parse(readFileSync(`${prefix}.handles.json`, "utf8"));
  return { prefix, printed, file };
}

/** All with `npm run test:full -- hosts`. */
const PROGRAMS = process.env.TEST_HOSTS === undefined ? ["desk"] : ["desk", "editor", "world"];

test.each(PROGRAMS)("%s: each pinned object has the stack that pinned it", (name) => {
  const { prefix, printed, file } = watched(name);
  const truth = readBridgeTruth(prefix);
  const dump = readFileSync(`${prefix}.dump`);
  expect(printed.handles).toBe(`${prefix}.handles.json`);
  expect(file).toMatchObject({
    format: "warpo-heap-analyzer handles 1",
    dumpSize: dump.length,
    dumpSha256: createHash("sha256").update(dump).digest("hex"),
  });
  // Exactly the objects that the program knows to be pinned: those that it unpinned are not among them.
  const pinned = [...truth.groups.flatMap(({ addresses }) => addresses), ...truth.lost];
  const byNumber = (one: number, other: number) => one - other;
  expect(file.pins.map(([address]) => address).sort(byNumber)).toEqual(pinned.sort(byNumber));
  expect(file.pinned).toBeGreaterThan(pinned.length);
  const lines = new Set<string>();
  for (const [, stack] of file.pins) {
    const frame = file.stacks[stack]?.find((line) => line.includes(`${name}.mjs`));
    expect(frame).toMatch(/build \(file:.*\.mjs:\d+:\d+\)$/);
    lines.add(frame as string);
  }
  // Each group pins at a line of its own.
  expect(lines.size).toBeGreaterThanOrEqual(truth.groups.length);
});

test("the record of pins is no holder of the objects", () => {
  const { prefix } = watched("desk");
  const shown = shownNumbers(prefix);
  const { groups, lost } = readBridgeTruth(prefix);
  expect(lost.filter((address) => shown.has(address))).toEqual([]);
  expect(groups.length).toBeGreaterThan(0);
  expect(groupsNotSeen(prefix)).toEqual([]);
});

test("without the variable, or without register, there is no file", () => {
  for (const [flags, env] of [
    [REGISTER, {}],
    [[], { HEAP_HANDLES: "1" }],
  ] as const) {
    const options = { flags: [...flags], env };
    const { prefix, printed } = captureProgram(folder, "desk", "capture", options);
    expect(existsSync(`${prefix}.handles.json`)).toBe(false);
    expect(printed).not.toHaveProperty("handles");
  }
});

test("any other value is refused", () => {
  const env = { ...process.env, HEAP_HANDLES: "yes" };
  const { stderr, status } = spawnSync(process.execPath, [...REGISTER, "-e", ""], {
    env,
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain('HEAP_HANDLES is "yes": expected 1, or all for the stack of every pin');
});

/** Pins and unpins an object 300,000 times, and writes a dump. */
const RHYTHM = `
  import { readFileSync } from "node:fs";
  import { writeDump } from "@warpo/heap-analyzer/capture";
  const [, wasm, dump] = process.argv;
  const module = new WebAssembly.Module(readFileSync(wasm));
  const { exports } = new WebAssembly.Instance(module, { env: { abort() {} } });
  const address = exports.makeTicket(1);
  exports.__pin(address);
  const other = exports.makeTicket(2);
  for (let nth = 0; nth < 300_000; nth++) {
    exports.__pin(other);
    exports.__unpin(other);
  }
  writeDump(exports, dump);
`;

test("of many pins, some have stacks; with HEAP_HANDLES=all, all have", () => {
  const sampled = (value: string) => {
    const dump = join(folder.folder, `rhythm-${value}.dump`);
    const args = [...REGISTER, "--input-type=module", "-e", RHYTHM, "--", folder.wasm, dump];
    const { stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, HEAP_HANDLES: value },
      cwd: join(import.meta.dirname, ".."),
    });
    expect(stderr).toBe("");
    const file: HandlesFile = JSON.parse(
      readFileSync(dump.replace(/dump$/, "handles.json"), "utf8"),
    );
    expect(file.pinned).toBe(300_001);
    expect(file.pins).toHaveLength(1);
    return file.sampled;
  };
  expect(sampled("all")).toBe(300_001);
  const some = sampled("1");
  expect(some).toBeGreaterThan(1000);
  expect(some).toBeLessThan(20_000);
});
