// Unreachable memory in a program of the real compiler.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHeap } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UnreachableAnswer } from "../index.js";
import { runIn } from "./support/command_line.ts";
import { runCompiler } from "./support/compile.ts";

const BLOCK = 64;

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

interface Exports extends WebAssembly.Exports {
  dropCycles(items: number, loops: number): void;
  __collect(): void;
}

describe.each([["--debug"], ["--debug -O3"]])("a program compiled with %s", (flags) => {
  let wasm: Uint8Array;
  let exports: Exports;

  beforeAll(async () => {
    const args = ["unreachable.ts", "--exportRuntime", ...flags.split(" ")];
    const baseDir = join(__dirname, "programs");
    ({ wasm } = await runCompiler(args, { baseDir, transform: true }));
    const module = await WebAssembly.compile(exposeGlobals(wasm));
    const env = { abort: () => expect.fail("the program aborted") };
    ({ exports } = (await WebAssembly.instantiate(module, { env })) as { exports: Exports });
  });

  function unreachable(): UnreachableAnswer {
    using heap = openHeap(captureDump(exports), wasm);
    return heap.unreachable();
  }

  test("has its garbage cycles reported until the collector frees them", () => {
    exports.__collect();
    exports.dropCycles(10, 3);
    const { garbage } = unreachable();
    expect(garbage).toEqual({
      count: 14,
      shallowSize: 10 * 32 + 3 * 32 + 32,
      classes: [
        { className: "unreachable/Item", count: 10, shallowSize: 320 },
        { className: "unreachable/Loop", count: 3, shallowSize: 96 },
        { className: "unreachable/List", count: 1, shallowSize: 32 },
      ],
      cycles: {
        total: 4,
        count: 13,
        shallowSize: 416,
        groups: [
          {
            cycles: 1,
            count: 10,
            shallowSize: 320,
            classes: [{ className: "unreachable/Item", count: 10 }],
            addresses: [expect.any(Number)],
            addressTexts: [expect.stringMatching(/^0x[0-9a-f]+$/)],
          },
          {
            cycles: 3,
            count: 3,
            shallowSize: 96,
            classes: [{ className: "unreachable/Loop", count: 3 }],
            addresses: [expect.any(Number), expect.any(Number), expect.any(Number)],
            addressTexts: Array(3).fill(expect.stringMatching(/^0x[0-9a-f]+$/)),
          },
        ],
      },
    });

    exports.__collect();
    expect(unreachable().garbage).toMatchObject({ count: 0, cycles: { total: 0, groups: [] } });
  });

  test("has the raw blocks reported to which nothing in the dump refers", () => {
    const allocate = (name: string) => (exports[name] as () => number)() >>> 0;
    const held = ["Global", "StaticData", "Object", "NumberOfObject", "Block", "AddressInside"];
    for (const place of held) allocate(`heldBy${place}`);
    const lost = ["heldByGarbage", "heldByLostBlock", "heldByNothing"].map(allocate);
    // A scan cannot find these: no dump has i64 globals, and a disguised address cannot be recognised.
    const wrong = ["heldByNumberOfGlobal", "heldInDisguise"].map(allocate);

    const { raw, warnings } = unreachable();
    expect([raw.count, raw.size]).toEqual([12, 12 * BLOCK - 16]);
    expect(raw.unreferenced).toMatchObject({ count: 6, size: 6 * BLOCK - 16 });
    const found = raw.unreferenced?.blocks.map(({ address }) => address);
    const last = (lost[1] as number) + BLOCK;
    expect(found).toEqual([...[...lost, ...wrong].sort((left, right) => left - right), last]);
    const [warning] = warnings;
    expect(warning?.code).toBe("WARN_RAW_BLOCKS_ESTIMATED");
    expect(warning?.message).toContain("an i64 global (the module has 1)");
  });

  test("is described by the command line as by the API", async () => {
    exports.__collect();
    exports.dropCycles(10, 3);
    const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-unreachable-"));
    folders.push(folder);
    const dump = captureDump(exports);
    writeFileSync(join(folder, "heap.dump"), dump);
    writeFileSync(join(folder, "program.wasm"), wasm);
    const cli = (...args: string[]) =>
      runIn(folder, ["unreachable", "heap.dump", "--wasm", "program.wasm", ...args]);

    const { status, stdout, stderr } = cli("--limit", "2", "--max-nodes", "5");
    expect(status).toBe(0);
    expect(stderr).toMatch(/^warning: the list of unreferenced raw blocks is an estimate: /);
    const text = stdout.replace(/0x[0-9a-f]+/g, (address) => "0x".padEnd(address.length, "…"));
    await expect(text).toMatchFileSnapshot("golden/unreachable.txt");

    using heap = openHeap(dump, wasm);
    const json = cli("--max-nodes", "5", "--format", "json").stdout;
    expect(json).toBe(`${JSON.stringify(heap.unreachable({ maxNodes: 5 }), null, 2)}\n`);
  });

  test("has a graph of its largest unreachable objects and the objects to which they refer", () => {
    exports.__collect();
    exports.dropCycles(2, 1);
    using heap = openHeap(captureDump(exports), wasm);
    const { nodes, edges } = heap.unreachable({ maxNodes: 100 });
    const objects = nodes.filter(({ state }) => state !== "raw");
    expect(objects.map(({ className, cycle }) => [className, cycle])).toEqual([
      ["unreachable/Item", 0],
      ["unreachable/Item", 0],
      ["unreachable/List", null],
      ["unreachable/Loop", 1],
    ]);
    const name = (at: number) => `${nodes[at]?.className?.split("/")[1]}`;
    const references = edges.map(({ from, label, to }) => `${name(from)}.${label} ${name(to)}`);
    expect(references.sort()).toEqual([
      "Item.next Item",
      "Item.previous Item",
      "List.first Item",
      "Loop.self Loop",
    ]);
  });
});
