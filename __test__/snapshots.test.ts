// Heap snapshots of V8 through the API and the command line. Their numbers are compared with DevTools in
// `devtools/snapshots.test.ts`.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  check,
  diffFile,
  growth,
  openHeap,
  openHeapFile,
  openHeapFileAsync,
} from "../dist/index.js";
import { run } from "./support/capture.ts";
import { CLI, runIn } from "./support/command_line.ts";
import { compile, UNOPTIMISED } from "./support/compile.ts";

const PROGRAM = join(import.meta.dirname, "snapshots/program.cjs");

let folder: string;
let before: string;
let after: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-snapshots-"));
  [before, after] = ["before", "after"].map((name) => join(folder, `${name}.heapsnapshot`)) as [
    string,
    string,
  ];
  execFileSync(process.execPath, [PROGRAM, before, after]);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

/** The JSON that a command prints. */
function answer(...args: string[]) {
  return JSON.parse(runIn(folder, [...args, "--format", "json"]).stdout);
}

describe("the command", () => {
  test("analyze lists constructors, without the totals of a memory", () => {
    const view = answer("analyze", after, "--accounting");
    expect(view).not.toHaveProperty("totalHeapSize");
    const sessions = view.constructors.find(({ className }: { className: string }) =>
      className.startsWith("Session"),
    );
    expect(sessions.count).toBeGreaterThanOrEqual(350);
  });

  test("diff counts what was added", () => {
    const { constructors } = answer("diff", before, after);
    const sessions = constructors.find(({ className }: { className: string }) =>
      className.startsWith("Session"),
    );
    expect(sessions).toMatchObject({ newCount: 200 });
  });

  test("find, object, referrers and paths name references as V8 does", () => {
    const { objects } = answer("find", after, "--class", "Session", "--limit", "1");
    const address = String(objects[0].address);
    const object = answer("object", after, address);
    expect(object.fields.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["user", "log", "seen", "{map}", "{value in WeakMap}"]),
    );
    const { referrers: all } = answer("referrers", after, address, "--limit", "100");
    // The references of its WeakRef, and of the table of the weak map.
    expect(all).toContainEqual(expect.objectContaining({ className: "WeakRef", weak: true }));
    expect(object.path.text).toBe("module > program.cjs->app > Object.sessions > Map[*] > Session");
    const { referrers } = answer("referrers", after, address);
    expect(referrers[0]).toMatchObject({ className: "(array)", independent: true });
    const { tree } = answer("paths", after, "--class", "Session");
    expect(tree[0]).toMatchObject({ label: null, root: { kind: "global", name: "module" } });
  });

  test("ids are shown as in DevTools, and taken in this form", () => {
    const { objects } = answer("find", after, "--class", "Session", "--limit", "1");
    const id = `@${objects[0].address}`;
    const text = runIn(folder, ["object", after, id]).stdout;
    expect(text).toMatch(new RegExp(`^Session at ${id}\n`));
    const { status, stderr } = runIn(folder, ["object", after, "@2"]);
    expect(stderr).toMatch(/there is no object at address @2; the nearest objects are at @\d+ /);
    expect(status).toBe(1);
  });

  test("report shows what a snapshot says, and leaves out the rest", () => {
    const page = runIn(folder, ["report", after, "--before", before]).stdout;
    const data = /id="data">([^<]*)</.exec(page)?.[1] ?? "";
    const { body } = JSON.parse(inflateRawSync(Buffer.from(data, "base64")).toString());
    expect(body.unreachable).toBeNull();
    expect(body.summary).not.toHaveProperty("accounting");
    expect(body.summary).not.toHaveProperty("totalHeapSize");
    expect(body.waste).not.toHaveProperty("headers");
    expect(body.comparison.total.newCount).toBeGreaterThan(200);
    expect(body.cells.retainedSize[0]).toBe(body.summary.totalLiveSize);
  });

  test("dominators and suspects find what retains most", () => {
    const { children } = answer("dominators", after);
    expect(children.length).toBeGreaterThan(3);
    const { suspects } = answer("suspects", after, "--before", before);
    expect(suspects[0].path.text).toMatch(/^module > program\.cjs->app/);
  });

  test("waste finds equal strings", () => {
    const { kinds } = answer("waste", after);
    expect(kinds.map(({ kind }: { kind: string }) => kind)).toEqual(["duplicate-strings"]);
    const names = kinds[0].groups.map(({ what }: { what: string }) => what);
    expect(names).toContain('"plain 1"');
  });

  test.each([
    ["unreachable", []],
    ["export", ["--to", "heapsnapshot", "--output", "copy.heapsnapshot"]],
  ])("%s is refused", (name, options) => {
    const { status, stderr } = runIn(folder, [name, after, ...options]);
    expect(stderr).toContain("a heap snapshot of V8 cannot answer");
    expect(status).toBe(1);
  });

  test("analyze with a file that is no module is refused", () => {
    const { status, stderr } = runIn(folder, ["analyze", after, "--wasm", CLI]);
    expect(stderr).toMatch(/no program in it is of this module.*; leave out --wasm$/m);
    expect(status).toBe(1);
  });
});

describe("allocations that V8 tracked", () => {
  let tracked: string;
  let later: string;
  let timeline: string;
  beforeAll(() => {
    tracked = join(folder, "tracked.heapsnapshot");
    later = join(folder, "later.heapsnapshot");
    timeline = join(folder, "later.heaptimeline");
    execFileSync(process.execPath, [
      join(import.meta.dirname, "snapshots/allocations.cjs"),
      tracked,
      later,
      timeline,
    ]);
  }, 60_000);

  test("sites says which line allocated what is alive, without a profile", () => {
    const { exact, sites } = answer("sites", tracked, "--limit", "1000");
    expect(exact).toBe(true);
    const own = sites.filter(({ file }: { file: string }) => file.endsWith("allocations.cjs"));
    const names = own.map((site: { function: string }) => site.function);
    expect(names).toContain("takeOrder");
    // What this function allocates is not kept, but for what V8 knows of it.
    const dropped = own.find((site: { function: string }) => site.function === "dropOrder");
    expect(dropped?.count ?? 0).toBeLessThan(10);
    const kept = own.find((site: { function: string }) => site.function === "takeOrder");
    const line = readFileSync(join(import.meta.dirname, "snapshots/allocations.cjs"), "utf8")
      .split("\n")
      .findIndex((text) => text.startsWith("function takeOrder"));
    expect(kept.line).toBe(line + 1);
    expect(kept.count).toBeGreaterThanOrEqual(500);
    expect(kept.count).toBeLessThan(520);
  });

  test("a .heaptimeline has the lines of the last snapshot, and answers as a snapshot", () => {
    const { samples } = JSON.parse(readFileSync(timeline, "utf8"));
    expect(samples.length).toBeGreaterThan(0);
    const taken = (file: string) =>
      answer("sites", file, "--limit", "1000").sites.find(
        ({ function: name }: { function: string }) => name === "takeOrder",
      );
    expect(taken(timeline)).toMatchObject({ line: taken(later).line });
    expect(Math.abs(taken(timeline).count - taken(later).count)).toBeLessThan(10);
    expect(answer("find", timeline, "--class", "Order").total).toBe(800);
  });

  test("sites --before says which line's objects became more from one snapshot to the next", () => {
    const growth = (one: string, other: string) => {
      const { sites, ...rest } = answer("sites", one, "--before", other, "--limit", "1000");
      const at = (wanted: string) =>
        sites.find(({ function: name }: { function: string }) => name === wanted)?.countChange ?? 0;
      const first = sites.find(({ file }: { file: string }) => file.endsWith("allocations.cjs"));
      return { ...rest, taken: at("takeOrder"), dropped: at("dropOrder"), first };
    };
    const forth = growth(later, tracked);
    expect(forth.taken).toBeGreaterThanOrEqual(300);
    expect(forth.taken).toBeLessThan(310);
    expect(Math.abs(forth.dropped)).toBeLessThan(10);
    expect(forth.first.function).toBe("takeOrder");
    const back = growth(tracked, later);
    expect(back.taken).toBe(-forth.taken);
    expect(growth(later, later).taken).toBe(0);
    // What is older than the tracking has no line, and is counted.
    expect(forth.otherObjectsBefore.count).toBeGreaterThan(1000);
    expect(forth.otherObjectsAfter).toEqual(back.otherObjectsBefore);
    const text = runIn(folder, ["sites", later, "--before", tracked]).stdout;
    expect(text).toMatch(/^live .* before, .* after .*, by the function that allocated it, as V8/);
    expect(text).toMatch(/\n[\d,]+ objects with .* before, and .* after, were not recorded: /);
  });

  test.each([
    ["sites of a snapshot", () => [after], /after\.heapsnapshot does not say where objects were/],
    [
      "sites of a later snapshot",
      () => [tracked, "--before", after],
      /after\.heapsnapshot does not say where objects were allocated: .* while it tracked allocations/,
    ],
  ])("are asked for if there are none: %s", (_, args, expected) => {
    const { status, stderr } = runIn(folder, ["sites", ...args()]);
    expect(stderr).toMatch(expected);
    expect(status).toBe(1);
  });
});

describe("categories", () => {
  test("are in the summary, and find lists their objects", () => {
    const { categories } = answer("summary", after);
    const names = categories.map(({ category }: { category: string }) => category);
    expect(names).toEqual(["detached-nodes", "event-handlers", "contexts", "console"]);
    const contexts = categories.find(
      ({ category }: { category: string }) => category === "contexts",
    );
    expect(contexts.count).toBeGreaterThan(100);
    const found = answer("find", after, "--class", "*", "--category", "contexts", "--limit", "1");
    expect(found.total).toBeGreaterThanOrEqual(contexts.count);
    expect(answer("find", after, "--class", "Session", "--category", "console").total).toBe(0);
  });
});

describe("a heap", () => {
  test("answers from bytes as from a file", async () => {
    const heap = openHeap(readFileSync(after));
    const file = await openHeapFileAsync(after, undefined, { prepare: true });
    expect(heap.summary()).toEqual(file.summary());
    expect(heap.accounting).toBeNull();
    heap.close();
    file.close();
  });

  test("does not need the file after it was opened", () => {
    const copy = join(folder, "copy.heapsnapshot");
    writeFileSync(copy, readFileSync(after));
    const heap = openHeapFile(copy);
    rmSync(copy);
    const { objects } = heap.find({ class: "(string)", contains: "user 2 1" });
    expect(objects.length).toBeGreaterThan(0);
    expect(heap.object(objects[0]?.address as number).preview).toContain("user 2 1");
  });

  test("grows where the program keeps more", () => {
    const heaps = [before, after].map((file) => openHeapFile(file));
    const { places } = growth(heaps);
    const classes = places.map(({ className }) => className);
    expect(classes).toContain("Node");
    const found = check(heaps, { maxGrowth: 1, noDefault: true });
    expect(found.passed).toBe(false);
  });

  test("is exported to pprof and heap-diff", async () => {
    const [earlier, heap] = [before, after].map((file) => openHeapFile(file));
    if (!earlier || !heap) throw new Error("no heaps");
    expect((await buffer(heap.export("pprof"))).length).toBeGreaterThan(1000);
    const diff = (await buffer(heap.export("heap-diff", { before: earlier }))).toString();
    expect(diff).toContain("Session");
  });
});

describe("an error", () => {
  test("says that a dump needs a module, and that a dump and a snapshot cannot be compared", async () => {
    const program = await compile("arrays", UNOPTIMISED);
    const [capture] = await run(program);
    const dump = (capture as { dump: Uint8Array }).dump;
    expect(() => openHeap(dump)).toThrow(expect.objectContaining({ code: "ERR_MODULE_MISSING" }));
    expect(() => openHeapFile(after, CLI)).toThrow(
      expect.objectContaining({ code: "ERR_SNAPSHOT_WITH_MODULE" }),
    );
    const heap = openHeap(dump, program.wasm);
    const snapshot = openHeapFile(after);
    expect(() => snapshot.compareWith(heap)).toThrow(
      expect.objectContaining({ code: "ERR_DUMP_WITH_SNAPSHOT" }),
    );
    const file = join(folder, "app.dump");
    writeFileSync(file, dump);
    expect(() => diffFile(file, after)).toThrow(
      expect.objectContaining({ code: "ERR_DUMP_WITH_SNAPSHOT" }),
    );
  });

  test("of a truncated file has its name", () => {
    const file = join(folder, "cut.heapsnapshot");
    writeFileSync(file, readFileSync(after).subarray(0, 1_000_000));
    expect(() => openHeapFile(file)).toThrow(
      expect.objectContaining({
        code: "ERR_SNAPSHOT_TRUNCATED",
        message: expect.stringContaining("cut.heapsnapshot"),
      }),
    );
  });
});
