// Profiles of allocations: with interval 1 they are judged by the walk of a dump of the same moment.

import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeap, openHeapFile } from "../dist/index.js";
import { createProfiler, instrument, type Profiler, retainedBySite } from "../dist/profile.js";
import { Operation } from "./programs/random/support/operations.ts";
import { ASC_BUILD_KINDS, INLINED_BUILD_KINDS, makeBuild } from "./random/builds.ts";
import { randomStream } from "./random/stream.ts";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { type CompilerRun, runCompiler } from "./support/compile.ts";
import { rounds, someOf } from "./support/nightly.ts";
import { decoded, sumsThrough, usedBytes, walkedBytes } from "./support/pprof.ts";

const ROOT = join(import.meta.dirname, "..");
const SERVER = "examples/leaky-server/assembly/server.ts";
const LISTENER_LINE =
  1 +
  readFileSync(join(ROOT, SERVER), "utf8")
    .split("\n")
    .findIndex((text) => text.includes("new PriceListener("));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "profile-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  abort: () => {
    throw new Error("the program aborted");
  },
};

const compiled = new Map<string, Promise<CompilerRun>>();

function compileServer(...flags: string[]): Promise<CompilerRun> {
  const key = flags.join(" ");
  const known = compiled.get(key) ?? runCompiler([SERVER, "--debug", "--sourceMap", ...flags], {});
  compiled.set(key, known);
  return known;
}

interface Server {
  serve(requests: number): void;
  __collect(): void;
}

describe.each(someOf(["-O0", "-O3"], 2))("the server, asc %s", (level) => {
  test("with interval 1 the bytes in use are those of the walk of a dump, before and after collections", async () => {
    const { wasm } = await compileServer(level);
    const program = instrument(wasm);
    expect(program.family).toBe("assemblyscript");
    const profiler = createProfiler(program, { interval: 1 });
    const imports = { env, ...profiler.imports };
    const { instance } = await WebAssembly.instantiate(exposeGlobals(program.wasm), imports);
    profiler.attach(instance.exports);
    const server = instance.exports as unknown as Server;
    for (const step of [() => server.serve(300), () => server.__collect()]) {
      step();
      const walked = walkedBytes(instance.exports, wasm);
      expect(walked).toBeGreaterThan(0);
      expect(usedBytes(profiler)).toBe(walked);
      // A dump of the instrumented module says the same.
      expect(walkedBytes(instance.exports, program.wasm)).toBe(walked);
    }
    const { types, samples } = decoded(profiler.heapProfile());
    const sum = (type: string) => {
      const at = types.indexOf(type);
      return samples.reduce((total, { values }) => total + (values[at] as number), 0);
    };
    expect(profiler.totals()).toEqual({ objects: sum("alloc_objects"), bytes: sum("alloc_space") });
  });
});

test("the leaking listeners are traced to the line that allocates them", async () => {
  const { wasm, sourceMap } = await compileServer("-O0");
  const program = instrument(wasm, { sourceMap });
  const profiler = createProfiler(program, { interval: 1 });
  const imports = { env, ...profiler.imports };
  const { instance } = await WebAssembly.instantiate(program.wasm, imports);
  (instance.exports as unknown as Server).serve(300);
  (instance.exports as unknown as Server).__collect();
  const { samples } = decoded(profiler.heapProfile());
  const listeners = samples.filter(({ stack }) =>
    stack.some((frame) => frame.endsWith(`server.ts:${LISTENER_LINE}`)),
  );
  // One for each request.
  expect(Math.max(...listeners.map(({ values }) => values[2] as number))).toBe(300);
});

const ALL_KINDS = [...ASC_BUILD_KINDS, ...INLINED_BUILD_KINDS];
/** One kind of build, because Binaryen takes up to half a minute for another. */
const BUILD_KINDS = someOf(ALL_KINDS, ALL_KINDS.length);

describe.each(BUILD_KINDS)("the random program, $name", (kind) => {
  test("the bytes in use are those of the walk in every dump", async () => {
    const { wasm } = await makeBuild(kind);
    const program = instrument(wasm);
    const module = new WebAssembly.Module(exposeGlobals(program.wasm));
    let judged = 0;
    const steps = randomStream(0);
    const profiler = createProfiler(program, { interval: 1 });
    let at = -1;
    const instance = new WebAssembly.Instance(module, {
      host: {
        next: () => steps[++at]?.[0] ?? Operation.End,
        operand: (index: number) => steps[at]?.[index + 1] ?? 0,
        dump: () => {
          judged++;
          expect({ at, bytes: usedBytes(profiler) }).toEqual({
            at,
            bytes: walkedBytes(instance.exports, wasm),
          });
        },
        markingAt: () => 0,
      },
      env,
      ...profiler.imports,
    });
    (instance.exports.main as () => void)();
    expect(judged).toBeGreaterThan(5);
  });
});

/** A server that ran, and its profiler. */
async function served(
  { wasm, sourceMap }: { wasm: Uint8Array<ArrayBuffer>; sourceMap?: string },
  interval: number,
  seed = 1,
) {
  const program = instrument(wasm, sourceMap === undefined ? {} : { sourceMap });
  const profiler = createProfiler(program, { interval, seed });
  const imports = { env, ...profiler.imports };
  const { instance } = await WebAssembly.instantiate(exposeGlobals(program.wasm), imports);
  profiler.attach(instance.exports);
  const { serve, __collect } = instance.exports as unknown as Server;
  serve(2400);
  __collect();
  return { profiler, exports: instance.exports };
}

test("the bytes in use are estimated within three standard deviations, for 97 % of the seeds", async () => {
  const server = await compileServer("-O0");
  const [interval, size, count] = [4096, 64, 2400];
  const chance = -Math.expm1(-size / interval);
  const deviation = size * Math.sqrt((count * (1 - chance)) / chance);
  expect(count * chance).toBeGreaterThan(30);
  const seeds = rounds(100, 25);
  let within = 0;
  let sum = 0;
  for (let seed = 0; seed < seeds; seed++) {
    const { profiler } = await served(server, interval, seed);
    const { samples } = decoded(profiler.heapProfile());
    const estimate = samples
      .filter(({ stack }) => stack[0]?.includes("PriceListener#constructor"))
      .reduce((total, { values }) => total + (values[3] as number), 0);
    sum += estimate;
    if (Math.abs(estimate - size * count) <= 3 * deviation) within++;
  }
  expect(within).toBeGreaterThanOrEqual(Math.floor(0.97 * seeds));
  // The mean of all has no bias.
  expect(Math.abs(sum / seeds - size * count)).toBeLessThan((4 * deviation) / Math.sqrt(seeds));
});

test("the same seed gives the same profile, and all allocations are counted in any case", async () => {
  const server = await compileServer("-O0");
  const runs = [];
  for (const interval of [1, 4096, 4096, Number.POSITIVE_INFINITY]) {
    const { profiler } = await served(server, interval);
    runs.push({ totals: profiler.totals(), samples: decoded(profiler.heapProfile()).samples });
  }
  const [exact, sampled, again, counted] = runs;
  expect(sampled?.samples).toEqual(again?.samples);
  expect(sampled?.totals).toEqual(exact?.totals);
  expect(counted).toEqual({ totals: exact?.totals, samples: [] });
});

test("what is alive is attributed to the lines that allocated it, with what they retain", async () => {
  const server = await compileServer("-O0");
  const { profiler, exports } = await served(server, 1);
  const heap = openHeap(captureDump(exports), server.wasm);
  const { exact, totalLiveSize, sites, otherBlocks } = retainedBySite(heap, profiler);
  expect({ exact, otherBlocks }).toEqual({ exact: true, otherBlocks: 0 });
  // Every live object has one line.
  expect(sites.reduce((sum, { size }) => sum + size, 0)).toBe(totalLiveSize);
  const listeners = sites.find(({ line }) => line === LISTENER_LINE);
  expect(listeners).toMatchObject({ count: 2400, size: 2400 * 64, retainedSize: 2400 * 64 });
  const feed = sites.find(({ function: name }) => name.endsWith("PriceFeed#constructor"));
  expect(feed?.retainedSize).toBeGreaterThan(2400 * 64);

  const estimate = retainedBySite(heap, (await served(server, 4096)).profiler.heapProfile());
  const estimated = estimate.sites.find(({ line }) => line === LISTENER_LINE);
  expect(estimate.exact).toBe(false);
  expect(estimated?.sizeError).toBeGreaterThan(0);
  expect(Math.abs((estimated?.size ?? 0) - 2400 * 64)).toBeLessThan(
    4 * (estimated?.sizeError ?? 0),
  );
  // Only the sampled objects retain.
  expect(estimated?.retainedSize).toBe(64 * (estimated?.samples ?? 0));
  heap.close();
});

test("without a source map, what is alive is attributed to the program's functions, not to the host", async () => {
  const { wasm } = await compileServer("-O0");
  const { profiler, exports } = await served({ wasm }, 1);
  const heap = openHeap(captureDump(exports), wasm);
  const { sites } = retainedBySite(heap, profiler);
  const listeners = sites.find(({ count }) => count === 2400);
  expect(listeners).toMatchObject({ file: "", line: 0, size: 2400 * 64 });
  expect(listeners?.function).toMatch(/PriceListener#constructor$/);
  expect(sites.filter(({ file }) => file === import.meta.filename)).toEqual([]);
  heap.close();
});

test("what the host allocates itself is attributed to the host's line", async () => {
  const { wasm } = await compileServer("-O0");
  const { profiler, exports } = await served({ wasm }, 1);
  const { __new, __pin } = exports as unknown as Record<
    "__new" | "__pin",
    (...of: number[]) => number
  >;
  __pin(__new(1000, 1));
  const heap = openHeap(captureDump(exports), wasm);
  const { sites } = retainedBySite(heap, profiler);
  const own = sites.filter(({ file }) => file.endsWith("profile.test.ts"));
  expect(own).toMatchObject([{ count: 1, size: 1024 }]);
  heap.close();
});

test("a profile of another moment, and a file that is none, are refused", async () => {
  const server = await compileServer("-O0");
  const { profiler, exports } = await served(server, 1);
  const heap = openHeap(captureDump(exports), server.wasm);
  expect(() => retainedBySite(heap, new Uint8Array([1, 2, 3]))).toThrow(
    /cannot use the profile: it cannot be decompressed/,
  );
  const other = gzipSync(new Uint8Array());
  expect(() => retainedBySite(heap, new Uint8Array(other))).toThrow(
    /does not contain the addresses/,
  );
  expect(retainedBySite(heap, profiler).sites.length).toBeGreaterThan(5);
  heap.close();
});

test("the commands and the handler give the same profiles", async () => {
  const server = await compileServer("-O0");
  const { profiler, exports } = await served(server, 1);
  const [wasm, dump, profile] = ["cli.wasm", "cli.dump", "cli.pb.gz"].map((file) =>
    join(folder, file),
  ) as [string, string, string];
  writeFileSync(wasm, server.wasm);
  writeFileSync(dump, captureDump(exports));
  writeFileSync(profile, profiler.heapProfile());
  const args = ["sites", dump, "--wasm", wasm, "--profile", profile];
  const text = outputOf(runIn(folder, args));
  expect(text).toContain("every allocation was recorded");
  expect(text).toMatch(
    new RegExp(`150\\.0 KiB +2,400 +150\\.0 KiB .*server\\.ts:${LISTENER_LINE}`),
  );
  const json = JSON.parse(outputOf(runIn(folder, [...args, "--format", "json", "--limit", "2"])));
  expect(json.sites).toHaveLength(2);

  const listening = createServer(profiler.handler).listen(0, "127.0.0.1");
  try {
    await once(listening, "listening");
    const { port } = listening.address() as AddressInfo;
    const get = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/debug/pprof/${path}`);
      return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
    };
    const heap = await get("heap");
    expect(decoded(heap.bytes).samples).toEqual(decoded(profiler.heapProfile()).samples);
    expect((await get("allocs")).status).toBe(200);
    const cpu = await get("profile?seconds=0.05");
    expect(decoded(cpu.bytes).types).toEqual(["samples", "cpu", "wasm"]);
    expect((await get("profile?seconds=x")).status).toBe(400);
    expect((await get("heap?seconds=301")).status).toBe(400);
    expect((await get("nothing")).status).toBe(404);
    const text = async (path: string) => new TextDecoder().decode((await get(path)).bytes);
    expect(await text("")).toMatch(/<a href="heap">/);
    expect(await text("cmdline")).toBe(process.argv.join("\0"));
    expect(await text("heap?debug=1")).toMatch(
      new RegExp(
        `^2400: 153600 \\[2400: 153600\\] @ .*\\n(#.*\\n)*?#\\t.*server\\.ts:${LISTENER_LINE}$`,
        "m",
      ),
    );
    for (const name of ["block", "goroutine", "mutex", "threadcreate"]) {
      const { status, bytes } = await get(name);
      expect(status).toBe(200);
      expect(decoded(bytes).samples).toEqual([]);
    }
    const asked = once(listening, "request");
    const change = get("heap?seconds=0.5");
    await asked;
    await setImmediate();
    (exports as unknown as Server).serve(100);
    const changed = (await change).bytes;
    const listeners = sumsThrough(changed, `server.ts:${LISTENER_LINE}`);
    expect(listeners).toEqual([100, 6400, 100, 6400]);
    const unchanged = decoded((await get("heap?seconds=0.1")).bytes).samples;
    expect(unchanged.flatMap(({ values }) => values).every((value) => value === 0)).toBe(true);
  } finally {
    listening.close();
  }
});

test("a heap snapshot of V8 is refused in place of a dump", async () => {
  const { profiler } = await served(await compileServer("-O0"), 1);
  writeFileSync(join(folder, "own.pb.gz"), profiler.heapProfile());
  const snapshot = join(folder, "own.heapsnapshot");
  const write = `require("node:v8").writeHeapSnapshot(${JSON.stringify(snapshot)})`;
  execFileSync(process.execPath, ["-e", write]);
  const heap = openHeapFile(snapshot);
  expect(() => retainedBySite(heap, profiler)).toThrow(/a snapshot is of V8's heap/);
  heap.close();
  writeFileSync(join(folder, "server.wasm"), (await compileServer("-O0")).wasm);
  const args = ["sites", snapshot, "--wasm", "server.wasm", "--profile", "own.pb.gz"];
  expect(failureOf(runIn(folder, args))).toMatch(/own\.heapsnapshot.*snapshot/);
});

const hasGo = spawnSync("go", ["version"]).status === 0;
if (!hasGo) console.warn("there is no Go: profiles are not read by its pprof");

test.skipIf(!hasGo)(
  "Go's pprof reads profiles of the heap, of the processor, and of sites",
  async () => {
    const server = await compileServer("-O0");
    const { profiler, exports } = await served(server, 1);
    const { serve } = exports as unknown as Server;
    const heap = openHeap(captureDump(exports), server.wasm);
    const { sites } = retainedBySite(heap, profiler);
    heap.close();
    const file = (name: string) => join(folder, name);
    writeFileSync(file("go.dump"), captureDump(exports));
    writeFileSync(file("go.wasm"), server.wasm);
    writeFileSync(file("go-heap.pb.gz"), profiler.heapProfile());
    const args = [
      "go.dump",
      "--wasm",
      "go.wasm",
      "--profile",
      "go-heap.pb.gz",
      "--format",
      "pprof",
    ];
    outputOf(runIn(folder, ["sites", ...args, "-o", "go-sites.pb.gz"]));
    writeFileSync(file("go-cpu.pb.gz"), await profiler.cpuProfile({ work: () => serve(3000) }));
    const pprof = (...options: string[]) => {
      const all = ["tool", "pprof", "-nodefraction=0", "-nodecount=1000000", ...options];
      const environment = { ...process.env, HOME: folder, PPROF_TMPDIR: folder };
      const result = spawnSync("go", all, { encoding: "utf8", env: environment });
      expect(result).toMatchObject({ status: 0, stderr: "" });
      return result.stdout;
    };
    const lines = pprof("-top", "-cum", "-lines", "-unit=B", file("go-heap.pb.gz"));
    expect(lines).toMatch(new RegExp(`${64 * 2400}B .*PriceListener#constructor`));
    expect(lines).toContain(`server/handle ${SERVER}:${LISTENER_LINE}`);
    const top = pprof("-top", "-lines", "-unit=B", file("go-sites.pb.gz"));
    const listeners = sites.find(({ line }) => line === LISTENER_LINE);
    expect(top).toMatch(new RegExp(`${listeners?.size}B .*server\\.ts:${LISTENER_LINE}`));
    expect(pprof("-top", file("go-cpu.pb.gz"))).toContain("PriceFeed#publish");
  },
);

test("a CPU profile names the functions of the module", async () => {
  const server = await compileServer("-O0");
  const { profiler, exports } = await served(server, 512 * 1024);
  const { serve } = exports as unknown as Server;
  const { samples } = decoded(await profiler.cpuProfile({ work: () => serve(3000) }));
  const publish = samples.filter(({ stack }) =>
    stack.some((frame) => /PriceFeed#publish .*server\.ts:\d+$/.test(frame)),
  );
  expect(publish.reduce((sum, { values }) => sum + (values[2] as number), 0)).toBeGreaterThan(0);
});

/** A bump allocator in a module with what can refer to functions. */
const ALLOCATOR = `(module
  (type $allocate (func (param i32) (result i32)))
  (import "host" "memory" (memory 1))
  (import "host" "table" (table 8 funcref))
  (import "host" "seen" (func $seen (param i32)))
  (global $top (mut i32) (i32.const 64))
  (global $function funcref (ref.func $malloc))
  (table $own 4 funcref)
  (elem (i32.const 1) $twice $malloc)
  (elem (table $own) (i32.const 0) func $malloc)
  (elem declare func $free)
  (elem funcref (ref.func $twice) (ref.null func))
  (start $begin)
  (func $begin
    (drop (call $malloc (i32.const 10)))
    (call $seen (call_indirect (type $allocate) (i32.const 20) (i32.const 2))))
  (func $malloc (type $allocate)
    (local $at i32)
    (local.set $at (global.get $top))
    (if (i32.eqz (local.get 0)) (then (return (i32.const 0))))
    (global.set $top (i32.add (global.get $top) (local.get 0)))
    (if (i32.gt_u (global.get $top) (i32.const 60000)) (then unreachable))
    (local.get $at))
  (func $calloc (param i32 i32) (result i32)
    (return_call $malloc (i32.mul (local.get 0) (local.get 1))))
  (func $free (param i32))
  (func $twice (type $allocate)
    (drop (call $malloc (local.get 0)))
    (call $calloc (local.get 0) (i32.const 3)))
  (export "malloc" (func $malloc))
  (export "twice" (func $twice))
  (export "free" (func $free))
  (export "own" (table $own)))`;

test("start functions, imported memories and tables, and every reference to a function work as before", () => {
  const parsed = binaryen.parseText(ALLOCATOR);
  const { BulkMemory, MutableGlobals, ReferenceTypes, TailCall } = binaryen.Features;
  parsed.setFeatures(BulkMemory | MutableGlobals | ReferenceTypes | TailCall);
  const wasm = parsed.emitBinary();
  const run = (module: Uint8Array<ArrayBuffer>, profiler?: Profiler) => {
    const seen: number[] = [];
    const memory = new WebAssembly.Memory({ initial: 1 });
    const table = new WebAssembly.Table({ initial: 8, element: "anyfunc" });
    const host = { memory, table, seen: (at: number) => void seen.push(at) };
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module), {
      host,
      ...profiler?.imports,
    });
    const call = (name: string, argument: number) =>
      (exports[name] as (value: number) => unknown)(argument);
    seen.push(call("malloc", 0) as number, call("twice", 100) as number);
    call("free", 64);
    seen.push((exports.own as WebAssembly.Table).get(0)(5) as number);
    seen.push(table.get(1)(7) as number);
    expect(() => call("malloc", 70_000)).toThrow("unreachable");
    expect(() => call("malloc", 70_000)).toThrow("unreachable");
    profiler?.attach(exports);
    return seen;
  };
  const program = instrument(new Uint8Array(wasm));
  const profiler = createProfiler(program, { interval: 1 });
  expect(run(program.wasm, profiler)).toEqual(run(new Uint8Array(wasm)));
  // 10 + 20 at the start; 100 + 300; 5; 7 + 21. What fails, and what calloc asks of malloc, do not count.
  expect(profiler.totals()).toEqual({ objects: 7, bytes: 463 });
  expect(usedBytes(profiler)).toBe(453);
});

test("a module that is instrumented twice is not changed again", async () => {
  const { wasm } = await compileServer("-O0");
  const once = instrument(wasm);
  expect(instrument(once.wasm).wasm).toEqual(once.wasm);
});

test("a module without an allocator is refused with the names that were looked for", () => {
  const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  expect(() => instrument(empty)).toThrow(
    /found no function of an allocator.*~lib\/rt\/tlsf\/searchBlock.*malloc.*__rust_alloc.*runtime\.mallocgc/s,
  );
});
