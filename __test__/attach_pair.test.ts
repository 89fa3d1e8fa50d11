/** The numbers beside a heap snapshot of a process that was not prepared. The judge is what its program knows. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  bridgeFolder,
  groupsNotSeen,
  readBridgeTruth,
  readNumbersFile,
  runArguments,
  shownNumbers,
} from "./support/bridge.ts";
import { holders, judged, openPair } from "./support/bridge_judge.ts";

const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const HOSTS = [
  { title: "this Node", path: process.execPath },
  { title: "Node 22", path: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", path: join(VERSIONS, "node-24/bin/node") },
];

let folder: Awaited<ReturnType<typeof bridgeFolder>>;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = await bridgeFolder("--debug");
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder.folder, { recursive: true, force: true });
});

/** Starts a program that waits, and attaches. */
async function attached(program: string, node = process.execPath) {
  const { prefix, args } = runArguments(folder, program, "wait");
  const child = spawn(node, ["--inspect=127.0.0.1:0", ...args]);
  running.push(child);
  let url = "";
  child.stderr.on("data", (text) => {
    url ||= /ws:\/\/\S+/.exec(String(text))?.[0] ?? "";
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return { child, prefix, target: await attach(url) };
}

/** All with `npm run test:full -- hosts`. */
const PROGRAMS = process.env.TEST_HOSTS === undefined ? ["desk"] : ["desk", "editor", "world"];

/** What a capture writes with a heap snapshot. */
const outputs = (prefix: string, closures: boolean) => ({
  hostOutput: `${prefix}.heapsnapshot`,
  numbersOutput: `${prefix}.numbers.json`,
  closures,
});

describe.each(HOSTS)("$title", ({ path }) => {
  describe.skipIf(!existsSync(path))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test.each(PROGRAMS)("%s: every handle is shown, and no lost one", async (name) => {
        const { child, prefix, target } = await attached(name, path);
        expect(await target.writeDump(`${prefix}.dump`, outputs(prefix, true))).toEqual([]);
        await target.close();
        child.kill();
        const truth = readBridgeTruth(prefix);
        const unseen = truth.groups.filter((group) => group.unseen).map((group) => group.name);
        expect(groupsNotSeen(prefix)).toEqual(unseen);
        const shown = shownNumbers(prefix);
        expect(truth.lost.filter((address) => shown.has(address))).toEqual([]);
        const verdict = judged(prefix, folder.wasm);
        if (process.env.TEST_FIGURES) console.log(path, name, JSON.stringify(verdict));
        expect(verdict.wrong).toEqual([]);
        expect(verdict.withHolder / verdict.held).toBeGreaterThanOrEqual(0.75);
      });
    },
  );
});

test("a holder that is removed, and whose objects are unpinned, is gone with them", async () => {
  const { child, prefix, target } = await attached("removal");
  await target.writeDump(`${prefix}.dump`, outputs(prefix, true));
  const removed = new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdin.write("remove\n");
  await removed;
  const after = `${prefix}-after`;
  await target.writeDump(`${after}.dump`, outputs(after, true));
  await target.close();
  child.kill();
  const [before, then] = [openPair(prefix, folder.wasm), openPair(after, folder.wasm)];
  for (const { name, addresses } of readBridgeTruth(prefix).groups) {
    for (const address of addresses) {
      expect(holders(before, address)).toHaveLength(1);
      expect(then.object(address).path === null).toBe(name === "removed");
      if (name !== "removed") expect(holders(then, address)).toHaveLength(name === "kept" ? 1 : 0);
    }
  }
  before.close();
  then.close();
});

test("the numbers file names its dump; only its owner can read it", async () => {
  const { child, prefix, target } = await attached("desk");
  await target.writeDump(`${prefix}.dump`, outputs(prefix, false));
  const dump = readFileSync(`${prefix}.dump`);
  const { format, dumpSize, lo, hi, read } = readNumbersFile(prefix);
  expect({ format, dumpSize, lo, hi }).toEqual({
    format: "warpo-heap-analyzer numbers 1",
    dumpSize: dump.length,
    lo: dump.readUInt32LE(12),
    hi: dump.length - 24 - 4 * dump.readUInt32LE(20),
  });
  expect(read).not.toHaveProperty("functions");
  expect(read.containers).toBeGreaterThan(200);
  expect(statSync(`${prefix}.numbers.json`).mode & 0o777).toBe(0o600);
  const blocks = readBridgeTruth(prefix).groups.filter(({ block }) => block);
  expect(groupsNotSeen(prefix)).toEqual(blocks.map(({ name }) => name));
  await target.close();
  child.kill();
});

test("numbers without a heap snapshot are refused, and after a failure there is no file", async () => {
  const { child, prefix, target } = await attached("desk");
  const inside = dirname(prefix);
  const numbersOutput = `${prefix}.numbers.json`;
  await expect(target.writeDump(`${prefix}.dump`, { numbersOutput })).rejects.toMatchObject({
    code: "ERR_INVALID_OPTION",
  });
  const other = { ...outputs(prefix, false), numbersOutput: join(folder.wasm, "x.json") };
  await expect(target.writeDump(`${prefix}.dump`, other)).rejects.toMatchObject({
    code: "ERR_DUMP_WRITE",
  });
  expect(readdirSync(inside)).toEqual(["pair.truth.json"]);
  await target.close();
  child.kill();
});
