// `sites --before`: which line's live objects became more between two moments of a run.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exposeGlobals, writeDump } from "../dist/capture.js";
import { openHeapFile } from "../dist/index.js";
import { createProfiler, instrument } from "../dist/profile.js";
import type { Heap } from "../index.js";
import { connect } from "./mcp/client.ts";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { runCompiler } from "./support/compile.ts";

const ROOT = join(import.meta.dirname, "..");
const SOURCE = "__test__/programs/profile/growing.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "profile-growth-"));
  const { wasm, sourceMap } = await runCompiler([SOURCE, "--debug", "--sourceMap"], {});
  writeFileSync(join(folder, "growing.wasm"), wasm);
  writeFileSync(join(folder, "growing.wasm.map"), sourceMap ?? "");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes the dumps and profiles of two moments: after 200 steps, and after 300 more. */
async function run(interval: number): Promise<void> {
  const sourceMap = readFileSync(join(folder, "growing.wasm.map"), "utf8");
  const program = instrument(readFileSync(join(folder, "growing.wasm")), { sourceMap });
  const profiler = createProfiler(program, { interval });
  const abort = () => {
    throw new Error("the program aborted");
  };
  const imports = { env: { abort }, ...profiler.imports };
  const { instance } = await WebAssembly.instantiate(exposeGlobals(program.wasm), imports);
  profiler.attach(instance.exports);
  const { step, __collect } = instance.exports as Record<string, (count?: number) => void>;
  for (const [name, count] of [
    ["before", 200],
    ["after", 300],
  ] as const) {
    step?.(count);
    __collect?.();
    writeDump(instance.exports, join(folder, `${name}.dump`));
    writeFileSync(join(folder, `${name}.pb.gz`), profiler.heapProfile());
  }
}

const PAIR = ["--before", "before.dump", "--before-profile", "before.pb.gz"];
const AFTER = ["sites", "after.dump", "--wasm", "growing.wasm", "--profile", "after.pb.gz"];

interface Change {
  file: string;
  line: number;
  countBefore: number;
  countAfter: number;
  countChange: number;
  sizeBefore: number;
  sizeAfter: number;
  sizeChange: number;
  sizeError: number;
}

const lineOf = (text: string) => {
  const lines = readFileSync(join(ROOT, SOURCE), "utf8").split("\n");
  return lines.findIndex((line) => line.includes(text)) + 1;
};

function changes(): { exact: boolean; total: number; sites: Change[] } {
  return JSON.parse(outputOf(runIn(folder, [...AFTER, ...PAIR, "--format", "json"])));
}

const at = (sites: Change[], line: number) =>
  sites.find((site) => site.file.endsWith("growing.ts") && site.line === line);

test("the API and the server answer as the command does", async () => {
  await run(1);
  const command = changes();
  const [before, after] = ["before", "after"].map((name) => {
    const heap = openHeapFile(join(folder, `${name}.dump`), join(folder, "growing.wasm"));
    return { heap, profile: readFileSync(join(folder, `${name}.pb.gz`)) };
  }) as [Moment, Moment];
  const pair = { profile: after.profile, before: before.heap, beforeProfile: before.profile };
  expect(after.heap.sites({ ...pair, limit: 1000 })).toMatchObject(command);
  expect(await after.heap.sitesAsync({ ...pair, limit: 1000 })).toMatchObject(command);
  const single = after.heap.sites({ profile: after.profile, limit: 1000 });
  const text = outputOf(runIn(folder, [...AFTER, "--limit", "1000", "--format", "json"]));
  expect(single).toMatchObject(JSON.parse(text));
  const page = await after.heap.sitesAsync({ profile: after.profile, limit: 1, offset: 1 });
  expect(page).toMatchObject({ total: single.total, sites: single.sites.slice(1, 2) });
  expect(() => after.heap.sites({ profile: Buffer.from("x") })).toThrow(/profile/);
  expect(() => after.heap.sites({ beforeProfile: before.profile } as never)).toThrow(/before/);
  // Of another moment.
  await expect(after.heap.sitesAsync({ profile: before.profile })).rejects.toMatchObject({
    code: "ERR_PROFILE",
  });
  const session = await connect(["--root", folder, "--characters", "1000000"]);
  const opened = await session.client.callTool({
    name: "open_heaps",
    arguments: { dumps: ["before.dump", "after.dump"] },
  });
  const { heaps } = opened.structuredContent as { heaps: { heap: string }[] };
  const ask = async (args: object) => {
    const given = { heap: heaps[1]?.heap, profile: "after.pb.gz", limit: 1000, ...args };
    const { structuredContent } = await session.client.callTool({
      name: "sites",
      arguments: given,
    });
    return structuredContent as { sites: unknown[]; page: object; evidence: { numbers: string } };
  };
  const found = await ask({});
  expect(found.sites).toEqual(single.sites);
  expect(found.evidence.numbers).toBe("exact");
  const grown = await ask({ before: heaps[0]?.heap, beforeProfile: "before.pb.gz" });
  expect(grown.sites).toMatchObject(
    command.sites.map(({ sizeAfter, countAfter, sizeChange }) => ({
      size: sizeAfter,
      count: countAfter,
      sizeChange,
    })),
  );
  expect(await session.failure("sites", { heap: heaps[1]?.heap, profile: "../x" })).toMatch(
    /^ERR_OUTSIDE_ROOTS/,
  );
  expect(await session.failure("sites", { heap: heaps[1]?.heap })).toMatch(/^ERR_PROFILE/);
  await session.close();
});

interface Moment {
  heap: Heap;
  profile: Buffer;
}

test("the line of the leak grew by the objects that it kept, and the line with a limit did not", async () => {
  await run(1);
  const { exact, sites } = changes();
  expect(exact).toBe(true);
  const kept = at(sites, lineOf("new Kept("));
  expect(kept).toMatchObject({ countBefore: 200, countAfter: 500, countChange: 300 });
  expect(kept).toMatchObject({ sizeChange: 300 * 32, sizeError: 0 });
  const slot = at(sites, lineOf("new Slot("));
  expect(slot).toMatchObject({ countBefore: 100, countAfter: 100, countChange: 0, sizeChange: 0 });
  expect(sites[0]).toEqual(kept);

  const text = outputOf(runIn(folder, [...AFTER, ...PAIR]));
  expect(text).toMatch(/^live .* before, .* after \(\+.*\), .*every allocation was recorded\n/);
  expect(text).toMatch(/\n\+9\.4 KiB +6\.2 KiB +15\.6 KiB +\+300 +200 +500 .*growing\.ts:13\n/);
});

test("exchanged moments give the same numbers with the other sign", async () => {
  await run(1);
  const forth = changes().sites;
  const exchanged = ["sites", "before.dump", "--wasm", "growing.wasm", "--profile", "before.pb.gz"];
  const pair = ["--before", "after.dump", "--before-profile", "after.pb.gz", "--format", "json"];
  const back = JSON.parse(outputOf(runIn(folder, [...exchanged, ...pair]))).sites as Change[];
  const kept = lineOf("new Kept(");
  expect(at(back, kept)?.countChange).toBe(-300);
  const sum = (sites: Change[]) => sites.reduce((total, site) => total + site.sizeChange, 0);
  expect(sum(back)).toBe(-sum(forth));
});

test("a sampled profile gives an estimate with its error", async () => {
  await run(64);
  const { exact, sites } = changes();
  expect(exact).toBe(false);
  const kept = at(sites, lineOf("new Kept(")) as Change;
  expect(kept.sizeError).toBeGreaterThan(0);
  expect(Math.abs(kept.sizeChange - 300 * 32)).toBeLessThan(4 * kept.sizeError);
});

test.each([
  ["no profile of the earlier moment", [...AFTER, "--before", "before.dump"], "both --profile"],
  ["no profile of the later moment", [...AFTER.slice(0, 4), ...PAIR], "both --profile"],
  ["no earlier dump", [...AFTER, ...PAIR.slice(2)], "also --before <dump-file>"],
  ["a profile of the change", [...AFTER, ...PAIR, "--format", "pprof"], "text or json"],
])("%s is an error", (_, args, expected) => {
  expect(failureOf(runIn(folder, args))).toContain(`expected ${expected}`);
});

test("dumps without profiles do not say where objects were allocated", async () => {
  await run(1);
  const args = [...AFTER.slice(0, 4), ...PAIR.slice(0, 2)];
  expect(failureOf(runIn(folder, args))).toMatch(
    /before\.dump does not say where objects were allocated: expected a heap profile/,
  );
});
