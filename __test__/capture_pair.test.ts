/**
 * A dump, a heap snapshot and the numbers that it does not show, of one moment. The judge is what the program knows about
 * its own handles, and a reader of snapshots that is not the analyzer's.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  bridgeFolder,
  captureProgram,
  groupsNotSeen,
  readBridgeTruth,
  readNumbersFile,
  runArguments,
  shownNumbers,
} from "./support/bridge.ts";

const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const HOSTS = [
  { title: "this Node", node: process.execPath },
  { title: "Node 22", node: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", node: join(VERSIONS, "node-24/bin/node") },
];
const PROGRAMS = ["desk", "editor", "world"];

let folder: Awaited<ReturnType<typeof bridgeFolder>>;

beforeAll(async () => {
  folder = await bridgeFolder("--debug");
});
afterAll(() => rmSync(folder.folder, { recursive: true, force: true }));

describe.each(HOSTS)("$title", ({ node }) => {
  describe.skipIf(!existsSync(node))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test.each(PROGRAMS)(
        "%s: the pair shows every handle that V8 shows, and no lost one",
        (name) => {
          const { prefix, printed } = captureProgram(folder, name, "closures", { node });
          const truth = readBridgeTruth(prefix);
          const unseen = truth.groups.filter((group) => group.unseen).map((group) => group.name);
          expect(groupsNotSeen(prefix)).toEqual(unseen);
          const shown = shownNumbers(prefix);
          expect(truth.lost.length).toBeGreaterThan(20);
          expect(truth.lost.filter((address) => shown.has(address))).toEqual([]);
          expect(printed.read.functions).toBeGreaterThan(10);
          expect(printed.read.cutContainers).toBe(0);
        },
      );
    },
  );
});

test("without closures, the variables of blocks are not read, and nothing else is missing", () => {
  const { prefix, printed } = captureProgram(folder, "desk", "capture");
  const blocks = readBridgeTruth(prefix).groups.filter(({ block }) => block);
  expect(groupsNotSeen(prefix)).toEqual(blocks.map(({ name }) => name));
  expect(printed.read).not.toHaveProperty("functions");
});

test("the numbers file names its dump, and what was read", () => {
  const { prefix, printed } = captureProgram(folder, "world", "capture");
  const dump = readFileSync(`${prefix}.dump`);
  const { objects, ...head } = readNumbersFile(prefix);
  expect(head).toEqual({
    format: "warpo-heap-analyzer numbers 1",
    dumpSize: dump.length,
    dumpSha256: createHash("sha256").update(dump).digest("hex"),
    lo: dump.readUInt32LE(12),
    hi: dump.length - 24 - 4 * dump.readUInt32LE(20),
    read: printed.read,
  });
  expect(printed).toMatchObject({
    dump: `${prefix}.dump`,
    host: `${prefix}.heapsnapshot`,
    numbers: `${prefix}.numbers.json`,
  });
  for (const name of ["dump", "heapsnapshot", "numbers.json"]) {
    expect(statSync(`${prefix}.${name}`).mode & 0o777).toBe(0o600);
  }
  // A column of x, y and handle: all other numbers are at the first two places of three.
  const sprites = objects.find(({ kind, slots }) => kind === "Float64Array" && slots.length === 40);
  expect(sprites?.steps?.[1]?.[2]).toBe(0);
  expect(sprites?.steps?.[1]?.[0]).toBeGreaterThan(30);
});

test("a capture calls no method, getter or trap of the program's objects", () => {
  const { prefix } = captureProgram(folder, "hostile", "closures");
  expect(groupsNotSeen(prefix)).toEqual([]);
  expect(JSON.parse(readFileSync(`${prefix}.noticed.json`, "utf8"))).toBe("");
});

// Node 20 cannot allow addons and forbid the inspector.
test.each(HOSTS.slice(1))(
  "$title without permission for its inspector gets an error, and no file",
  ({ node }) => {
    if (!existsSync(node)) return;
    const { prefix, args } = runArguments(folder, "desk", "capture");
    const allowed = ["--permission", "--allow-addons", "--allow-fs-read=*", "--allow-fs-write=*"];
    const { status, stderr } = spawnSync(node, [...allowed, ...args], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toContain(
      "cannot open the inspector of this thread: Access to this API has been",
    );
    expect(stderr).toContain("ERR_INSPECTOR");
    expect(readdirSync(join(prefix, ".."))).toEqual(["pair.truth.json"]);
  },
);

/** Runs code in a process of its own, with the exports of an instance and `capturePair`, and returns what it prints. */
function run(code: string, ...args: string[]): string {
  const script = `
    const { mkdirSync, readFileSync, statSync } = require("node:fs");
    const { pathToFileURL } = require("node:url");
    const { capturePair, exposeGlobals } = require("@warpo/heap-analyzer/capture");
    const [, wasm, prefix] = process.argv;
    const module = new WebAssembly.Module(exposeGlobals(readFileSync(wasm)));
    const { exports } = new WebAssembly.Instance(module, { env: { abort() {} } });
    ${code}`;
  const options = { encoding: "utf8", cwd: join(import.meta.dirname, "..") } as const;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["-e", script, folder.wasm, ...args],
    options,
  );
  expect(stderr).toBe("");
  return stdout;
}

test("missing folders are created, and files are replaced", () => {
  const inside = mkdtempSync(join(folder.folder, "own-"));
  const prefix = join(inside, "a/b/pair");
  const output = run(
    `const { ino } = (capturePair(exports, prefix), statSync(prefix + ".heapsnapshot"));
     const { dump } = capturePair(exports, pathToFileURL(prefix));
     console.log(dump === prefix + ".dump", statSync(prefix + ".heapsnapshot").ino !== ino);`,
    prefix,
  );
  expect(output).toBe("true true\n");
  const names = ["pair.dump", "pair.heapsnapshot", "pair.numbers.json"];
  expect(readdirSync(join(inside, "a/b")).sort()).toEqual(names);
});

test("after a failure there is no file", () => {
  const inside = mkdtempSync(join(folder.folder, "failed-"));
  const output = run(
    `const code = (...args) => { try { capturePair(...args); } catch ({ code }) { return code; } };
     const codes = [code({}, prefix)];
     mkdirSync(prefix + ".numbers.json");
     console.log(...codes, code(exports, prefix), code(exports, wasm + "/pair"));`,
    join(inside, "pair"),
  );
  expect(output).toBe("ERR_GLOBALS_NOT_EXPOSED ERR_DUMP_PATH ERR_DUMP_WRITE\n");
  expect(readdirSync(inside)).toEqual(["pair.numbers.json"]);
});

test("elements beyond the first million are not read, and counted", () => {
  const output = run(
    `globalThis.large = new Array(1_000_002).fill(0);
     large[1_000_001] = 4096 * 16;
     const first = capturePair(exports, prefix).read.cutContainers;
     delete globalThis.large;
     console.log(first, capturePair(exports, prefix).read.cutContainers);`,
    join(folder.folder, "large"),
  );
  expect(output).toBe("1 0\n");
});
