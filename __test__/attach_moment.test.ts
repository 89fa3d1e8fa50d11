/**
 * Dumps with a heap snapshot of V8 and with the paused frames. The program counts the same turns in WebAssembly and in
 * JavaScript, so both files of one moment have the same number.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Heap, openHeapFile } from "@warpo/heap-analyzer";
import { type Attached, attach, type PausedFrame } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProgram } from "./support/asc_program.ts";

const PROGRAMS = join(import.meta.dirname, "programs/attach");
const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
interface Host {
  title: string;
  path: string;
  /** Arguments before those of the inspector. */
  run?: string[];
}

const HOSTS: [Host, ...Host[]] = [
  { title: "this Node", path: process.execPath },
  { title: "Node 22", path: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", path: join(VERSIONS, "node-24/bin/node") },
  { title: "Deno", path: join(VERSIONS, "deno/deno"), run: ["run", "--allow-all"] },
];

let folder: string;
let wasm: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-moment-"));
  wasm = join(folder, "counter.wasm");
  writeFileSync(wasm, (await compileProgram("attach/counter", "--debug")).wasm);
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a program, waits until it is ready, and attaches. */
async function attached(script: string, args: string[], { path, run = [] }: Host = HOSTS[0]) {
  const flags = [...run, "--inspect=127.0.0.1:0"];
  const child = spawn(path, [...flags, join(PROGRAMS, script), ...args]);
  running.push(child);
  let url = "";
  child.stderr.on("data", (text) => {
    url ||= /ws:\/\/\S+/.exec(String(text))?.[0] ?? "";
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return { child, target: await attach(url) };
}

/** The address of the only object of a class. */
function only(heap: Heap, className: string): number {
  const { objects } = heap.find({ class: className });
  expect(objects).toHaveLength(1);
  return objects[0]?.address as number;
}

/** The number of turns, which the program keeps in its memory. In a dump, the memory follows the header. */
function dumpTurns(dump: string): number {
  const heap = openHeapFile(dump, wasm);
  const bytes = readFileSync(dump);
  const header = 24 + 4 * bytes.readUInt32LE(20);
  const turns = bytes.readInt32LE(header + only(heap, "*/Counter"));
  heap.close();
  return turns;
}

/** The number of turns in a heap snapshot. */
function hostTurns(snapshot: string): number {
  const heap = openHeapFile(snapshot);
  const { fields } = heap.object(only(heap, "Mirror"));
  heap.close();
  return Number(fields.find(({ name }) => name === "turns")?.value);
}

describe.each(HOSTS)("$title", (host) => {
  describe.skipIf(!existsSync(host.path))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test("the dump and the heap snapshot are of one moment; two captures are of two", async () => {
        const { child, target } = await attached("counter.cjs", [wasm], host);
        const [dump, snapshot] = [join(folder, "a.dump"), join(folder, "a.heapsnapshot")];
        expect(await target.writeDump(dump, { hostOutput: snapshot })).toEqual([]);
        const turns = dumpTurns(dump);
        expect(turns).toBeGreaterThan(0);
        expect(hostTurns(snapshot)).toBe(turns);
        expect(statSync(snapshot).mode & 0o777).toBe(0o600);

        // The program went on afterwards.
        await target.writeDump(dump);
        await target.close();
        expect(dumpTurns(dump)).toBeGreaterThan(turns);
        expect(hostTurns(snapshot)).not.toBe(dumpTurns(dump));
        child.kill();
      });

      test("the functions of a busy program have their locals and operands", async () => {
        const { child, target } = await attached("counter.cjs", [wasm, "--spin"], host);
        const [dump, output] = [join(folder, "b.dump"), join(folder, "b.frames.json")];
        const [warning] = await target.writeDump(dump, { framesOutput: output });
        await target.close();
        child.kill();
        expect(warning).toMatch(/paused in the middle of its work, in \d+ WebAssembly functions?,/);
        const { frames } = JSON.parse(readFileSync(output, "utf8")) as { frames: PausedFrame[] };
        const last = frames.at(-1) as PausedFrame;
        expect(last.function).toContain("counter/spin");
        expect(last.isOfModule).toBe(true);
        // Its parameter.
        expect(last.locals?.[0]).toMatchObject({ type: "i32", value: "1000" });
        // No function of the allocator or the collector, unless all tries met one.
        expect(statSync(output).mode & 0o777).toBe(0o600);
      });
    },
  );
});

const BUN = join(VERSIONS, "bun/bin/bun");
test.skipIf(!existsSync(BUN))(
  "Bun is refused, because its inspector is that of another engine",
  async () => {
    const script = join(folder, "waits.mjs");
    writeFileSync(script, "setTimeout(() => {}, 60_000); console.log('ready');");
    const child = spawn(BUN, ["--inspect=ws://127.0.0.1:0/bun", script]);
    running.push(child);
    let text = "";
    child.stderr.on("data", (piece) => {
      text += piece;
    });
    const address = () => /ws:\/\/[\w.:/]+/.exec(text)?.[0];
    await expect.poll(address).toBeDefined();
    await expect(attach(address() as string)).rejects.toMatchObject({
      code: "ERR_ATTACH_TARGET",
      message: expect.stringContaining("not one of V8"),
    });
    child.kill();
  },
);

test("an idle program's dump with a heap snapshot is the plain dump, and looking adds no roots", async () => {
  const { child, target } = await attached("server.cjs", [wasm]);
  const [plain, dump] = [join(folder, "plain.dump"), join(folder, "c.dump")];
  const host = join(folder, "c.heapsnapshot");
  expect(await target.writeDump(dump, { hostOutput: host })).toEqual([]);
  await target.writeDump(plain);
  expect(readFileSync(dump).equals(readFileSync(plain))).toBe(true);
  await target.close();
  expect(await consoleRoots(host)).toEqual(["WeakRef", "ready"]);
  child.kill();
});

test("a program that never rests is paused in its work, and a warning says so", async () => {
  const { child, target } = await attached("counter.cjs", [wasm, "--spin"]);
  const [dump, host] = [join(folder, "d.dump"), join(folder, "d.heapsnapshot")];
  const [warning] = await target.writeDump(dump, { hostOutput: host });
  expect(warning).toContain("paused in the middle of its work");
  expect(hostTurns(host)).toBe(0);
  await target.close();
  child.kill();
});

test("after a failure there is no file, and the program goes on", async () => {
  const { child, target } = await attached("counter.cjs", [wasm]);
  const inside = mkdtempSync(join(folder, "empty-"));
  const [dump, host] = [join(inside, "x.dump"), join(inside, "x.heapsnapshot")];
  const refused = async (outputs: Parameters<Attached["writeDump"]>[1]) =>
    await expect(target.writeDump(dump, outputs)).rejects.toMatchObject({ code: "ERR_DUMP_WRITE" });
  await refused({ hostOutput: join(wasm, "x.heapsnapshot") });
  await refused({ hostOutput: host, framesOutput: join(wasm, "x.json") });
  expect(readdirSync(inside)).toEqual([]);
  const turns = async () => {
    await target.writeDump(join(folder, "e.dump"));
    return dumpTurns(join(folder, "e.dump"));
  };
  expect(await turns()).not.toBe(await turns());
  await target.close();
  child.kill();
});

/** The objects that the inspector holds. */
async function consoleRoots(path: string): Promise<string[]> {
  const { snapshot, nodes, edges, strings } = JSON.parse(readFileSync(path, "utf8"));
  const { edge_fields, edge_types } = snapshot.meta;
  const names = new Set<string>();
  for (let edge = 0; edge < edges.length; edge += edge_fields.length) {
    const kind = edge_types[0][edges[edge]];
    if (kind === "element" || kind === "hidden") continue;
    if (!/DevTools console/.test(strings[edges[edge + 1]])) continue;
    names.add(strings[nodes[edges[edge + 2] + 1]]);
  }
  return [...names].sort();
}
