// The profile of the live heap, as pprof-format and Go's pprof read it.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap, openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { ASC_BUILD_KINDS, makeBuild } from "./random/builds.ts";
import { randomDumps } from "./random/dumps.ts";
import { randomStream } from "./random/stream.ts";
import { run } from "./support/capture.ts";
import { compile, programNames, UNOPTIMISED } from "./support/compile.ts";
import { hostileHeap } from "./support/hostile_heap.ts";
import { leakyServer } from "./support/leaky_server.ts";
import { someOf } from "./support/nightly.ts";

/** Objects and their bytes by path, as lines. */
type Sums = Record<string, string>;

async function profileOf(heap: Heap): Promise<Profile> {
  return Profile.decode(gunzipSync(await buffer(heap.export("pprof"))));
}

/** What a profile says. */
function profileSums(profile: Profile): Sums {
  const text = (at: number | bigint) => profile.stringTable.strings[Number(at)] as string;
  const functions = new Map(profile.function.map(({ id, name }) => [id, text(name)]));
  const locations = new Map(
    profile.location.map(({ id, line }) => {
      expect(line).toHaveLength(1);
      return [id, functions.get(line[0]?.functionId as number) as string];
    }),
  );
  const sums: Sums = {};
  for (const { locationId, value } of profile.sample) {
    const path = locationId.map((id) => locations.get(id)).reverse();
    const key = path.join(" > ");
    expect(sums).not.toHaveProperty([key]);
    sums[key] = value.join(" ");
  }
  return sums;
}

/** The same from the path of each object. */
function pathSums(heap: Heap): Sums {
  const sums = new Map<string, [number, number]>();
  const objects = heap.constructors().constructors.flatMap(({ instances }) => [...instances]);
  for (const { address, shallowSize } of objects) {
    const text = heap.paths(address).path?.text as string;
    const [count, size] = sums.get(text) ?? [0, 0];
    sums.set(text, [count + 1, size + shallowSize]);
  }
  return Object.fromEntries([...sums].map(([text, sum]) => [text, sum.join(" ")]));
}

test("a profile has the fields that make tools show it well", async () => {
  const files = await leakyServer();
  const heap = openHeapFile(files.after, files.wasm);
  const profile = await profileOf(heap);
  const text = (at: number | bigint) => profile.stringTable.strings[Number(at)];
  expect(text(0)).toBe("");
  expect(profile.sampleType.map(({ type, unit }) => [text(type), text(unit)])).toEqual([
    ["objects", "count"],
    ["shallow_space", "bytes"],
  ]);
  expect(text(profile.defaultSampleType)).toBe("shallow_space");
  expect(profile.mapping).toHaveLength(1);
  expect(profile.mapping[0]).toMatchObject({ id: 1, hasFunctions: true });
  // Small ids, from 1 on without a gap: a location and a function for each frame.
  const ids = profile.location.map(({ id }) => id);
  expect(ids).toEqual(ids.map((_, nth) => nth + 1));
  expect(profile.function.map(({ id }) => id)).toEqual(ids);
  const values = profile.sample.map(({ value }) => value.map(Number) as [number, number]);
  const sum = (at: 0 | 1) => values.reduce((sum, value) => sum + value[at], 0);
  expect([sum(0), sum(1)]).toEqual([
    heap.constructors().constructors.reduce((sum, { count }) => sum + count, 0),
    heap.summary().totalLiveSize,
  ]);
  expect(values.map(([, size]) => size)).toEqual(
    values.map(([, size]) => size).sort((left, right) => right - left),
  );
});

test.each(someOf(programNames, 4))(
  "every live object is in the profile, at its path: %s",
  async (name) => {
    const program = await compile(name, UNOPTIMISED);
    for (const { dump } of (await run(program)).slice(-1)) {
      const heap = openHeap(dump, program.wasm);
      expect(profileSums(await profileOf(heap))).toEqual(pathSums(heap));
      heap.close();
    }
  },
);

test.each([1, 2, 3])("every live object is in the profile of random heap %i", async (seed) => {
  const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
  for (const dump of randomDumps(build, randomStream(seed))) {
    const heap = openHeap(dump, build.wasm);
    expect(profileSums(await profileOf(heap))).toEqual(pathSums(heap));
    heap.close();
  }
});

const isGoThere = spawnSync("go", ["version"]).status === 0;
if (!isGoThere) console.warn("tests with Go's pprof are skipped: there is no Go");

describe.skipIf(!isGoThere)("Go's pprof", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "heap-analyzer-pprof-"));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  async function save(name: string, heap: Heap): Promise<string> {
    const file = join(folder, name);
    writeFileSync(file, await buffer(heap.export("pprof")));
    return file;
  }

  function pprof(...args: string[]): string {
    const options = ["tool", "pprof", "-unit=B", "-nodefraction=0", "-edgefraction=0"];
    const env = { ...process.env, HOME: folder, PPROF_TMPDIR: folder };
    const { status, stdout, stderr } = spawnSync("go", [...options, ...args], {
      encoding: "utf8",
      env,
    });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout;
  }

  /** Bytes by path, from `-traces`. With a base, what it has is subtracted in traces of its own. */
  function traces(output: string): Sums {
    const sums = new Map<string, number>();
    for (const trace of output.split(/^-+\+-+\n/m).slice(1)) {
      const found = /^ *(-?\d+)B {3}(.*(?:\n {13}.*)*)\n/m.exec(trace);
      if (found === null) continue;
      const frames = (found[2] as string).split("\n").map((line) => line.trim());
      const path = frames.reverse().join(" > ");
      sums.set(path, (sums.get(path) ?? 0) + Number(found[1]));
    }
    const changed = [...sums].filter(([, size]) => size !== 0);
    return Object.fromEntries(changed.map(([path, size]) => [path, String(size)]));
  }

  const bytes = (sums: Sums): Sums =>
    Object.fromEntries(Object.entries(sums).map(([path, sum]) => [path, sum.split(" ")[1] ?? ""]));

  test("shows the bytes of every path, and the sum", async () => {
    const files = await leakyServer();
    const heap = openHeapFile(files.after, files.wasm);
    const file = await save("after.pb.gz", heap);
    expect(traces(pprof("-traces", file))).toEqual(bytes(pathSums(heap)));
    const total = heap.summary().totalLiveSize;
    expect(pprof("-top", file)).toContain(
      `Showing nodes accounting for ${total}B, 100% of ${total}B total`,
    );
  });

  test("shows by path what grew, with the earlier profile as its base", async () => {
    const files = await leakyServer();
    const [before, after] = [files.before, files.after].map((dump) =>
      openHeapFile(dump, files.wasm),
    );
    const base = await save("base.pb.gz", before as Heap);
    const file = await save("now.pb.gz", after as Heap);
    const [earlier, later] = [before, after].map((heap) => bytes(pathSums(heap as Heap))) as [
      Sums,
      Sums,
    ];
    const paths = [...new Set([...Object.keys(earlier), ...Object.keys(later)])];
    const growth = paths.map((path) => [
      path,
      Number(later[path] ?? 0) - Number(earlier[path] ?? 0),
    ]);
    const changed = growth
      .filter(([, size]) => size !== 0)
      .map(([path, size]) => [path, String(size)]);
    expect(traces(pprof("-traces", "-diff_base", base, file))).toEqual(Object.fromEntries(changed));
    expect(pprof("-top", "-diff_base", base, file)).toMatch(
      /^ +7680B .* assembly\/server\/PriceListener$/m,
    );
  });

  test("shows names of classes as they are", async () => {
    const { whole, wasm } = await hostileHeap();
    const output = pprof("-top", await save("hostile.pb.gz", openHeap(whole, wasm)));
    for (const name of ["Object", "<x y", "(string)", "{a, b}", "größe 名前 😀"]) {
      expect(output).toContain(`%  ${name}\n`);
    }
  });
});
