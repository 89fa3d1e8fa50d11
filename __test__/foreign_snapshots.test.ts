// Heap snapshots as Node 26, Chrome and other programs write them, whole and cut, and what is said of two of them.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeap } from "../dist/index.js";
import { runIn } from "./support/command_line.ts";

const NODE_TYPES = ["hidden", "array", "string", "object", "synthetic"];
const EDGE_TYPES = ["context", "element", "property", "internal"];

/** A snapshot whose program keeps this many sessions. `firstId` above 32 bits is that of an address. */
function snapshot(sessions: number, firstId = 1, more: object = {}): string {
  const strings = ["", "global", "sessions", "Array", "Session"];
  const nodes = [4, 0, firstId, 0, 1, 3, 1, firstId + 2, 16, 1, 3, 3, firstId + 4, 16, sessions];
  const edges = [1, 1, 5, 2, 2, 10];
  for (let nth = 0; nth < sessions; nth++) {
    nodes.push(3, 4, firstId + 6 + 2 * nth, 4096, 0);
    edges.push(1, nth, 15 + 5 * nth);
  }
  const meta = {
    node_fields: ["type", "name", "id", "self_size", "edge_count"],
    node_types: [NODE_TYPES, "string", "number", "number", "number"],
    edge_fields: ["type", "name_or_index", "to_node"],
    edge_types: [EDGE_TYPES, "string_or_number", "node"],
  };
  const counts = { node_count: nodes.length / 5, edge_count: edges.length / 3, ...more };
  return JSON.stringify({ snapshot: { meta, ...counts }, nodes, edges, strings });
}

const heapOf = (text: string, options = {}) => openHeap(Buffer.from(text), undefined, options);

/** The code of the error that a call throws. */
function codeOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

const WIDE = 2 ** 40 + 1;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "foreign-snapshots-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("bytes outside of the heap", () => {
  test("are live bytes of no object", () => {
    const plain = heapOf(snapshot(3)).summary();
    const summary = heapOf(snapshot(3, 1, { extra_native_bytes: 5000 })).summary();
    expect(summary).toMatchObject({ outsideSize: 5000, objects: plain.objects });
    expect(summary.totalLiveSize).toBe(plain.totalLiveSize + 5000);
    expect(plain).not.toHaveProperty("outsideSize");
  });

  test("are said in the summary", () => {
    writeFileSync(
      join(folder, "outside.heapsnapshot"),
      snapshot(3, 1, { extra_native_bytes: 5120 }),
    );
    const { stdout } = runIn(folder, ["summary", "outside.heapsnapshot"]);
    expect(stdout).toMatch(
      /^live 17\.\d KiB, of which 5\.0 KiB outside of the heap are of no object$/m,
    );
  });

  test("of a size that no machine has are refused", () => {
    const text = snapshot(3, 1, { extra_native_bytes: 2 ** 53 });
    expect(codeOf(() => heapOf(text))).toBe("ERR_SNAPSHOT");
  });
});

describe("a snapshot that is cut", () => {
  const whole = snapshot(3);

  test("in its references is refused in part too, and says what is complete", () => {
    const text = whole.slice(0, whole.indexOf('"edges"') + 12);
    expect(() => heapOf(text, { partial: true })).toThrow(
      /before the end of its references \(its 6 objects are complete\): nothing in it says what is alive/,
    );
    expect(codeOf(() => heapOf(text, { partial: true }))).toBe("ERR_SNAPSHOT_TRUNCATED");
  });

  test("in its objects is refused in part too", () => {
    const text = whole.slice(0, whole.indexOf('"nodes"') + 20);
    expect(() => heapOf(text, { partial: true })).toThrow(/before the end of its objects/);
  });

  test("in its texts has all its sizes", () => {
    const text = whole.slice(0, whole.indexOf('"strings"') + 14);
    const heap = heapOf(text, { partial: true });
    expect(heap.partial).toBe(true);
    expect(heap.summary().totalLiveSize).toBe(heapOf(whole).summary().totalLiveSize);
  });

  test("to nothing is said to be empty", () => {
    writeFileSync(join(folder, "empty.heapsnapshot"), "");
    const { status, stderr } = runIn(folder, ["summary", "empty.heapsnapshot", "--partial"]);
    expect(status).toBe(1);
    expect(stderr).toContain("the file is empty");
  });
});

describe("snapshots with ids of 64 bits", () => {
  const [before, after] = [snapshot(3, WIDE), snapshot(40, WIDE + 800)].map((text) => heapOf(text));

  test("are compared by places, with a warning", () => {
    const { suspects, warnings } = after?.suspects({ before }) ?? {};
    const [class40] = suspects?.[0]?.accumulation?.children ?? [];
    expect(class40).toMatchObject({ className: "Session", count: 37 });
    expect(warnings?.map(({ code }) => code)).toEqual([
      "WARN_IDS_RENUMBERED",
      "WARN_IDS_RENUMBERED",
    ]);
    const tables = [before, after].map((heap) => heap?.placeTable());
    const grown = growth(tables as Parameters<typeof growth>[0]);
    expect(grown.warnings.map(({ code }) => code)).toContain("WARN_IDS_RENUMBERED");
  });

  test("are not compared object by object, of which a number of one file says nothing in the other", () => {
    for (const other of [before, heapOf(snapshot(40, WIDE))]) {
      expect(codeOf(() => after?.compareWith(other as never))).toBe("ERR_NOT_IN_SNAPSHOT");
      const paths = () => after?.paths({ newSince: other as never });
      expect(codeOf(paths)).toBe("ERR_NOT_IN_SNAPSHOT");
    }
  });
});

describe("two snapshots in the wrong order", () => {
  beforeAll(() => {
    writeFileSync(join(folder, "early.heapsnapshot"), snapshot(3));
    writeFileSync(join(folder, "late.heapsnapshot"), snapshot(40));
  });
  const ask = (...files: string[]) =>
    runIn(folder, ["suspects", files[1] as string, "--before", files[0] as string]);

  test("have an answer that begins with the doubt, and the exit code 3", () => {
    const { status, stdout } = ask("late.heapsnapshot", "early.heapsnapshot");
    expect(stdout).toMatch(/^DOUBTFUL: .*wrong order/);
    expect(status).toBe(3);
    expect(runIn(folder, ["growth", "late.heapsnapshot", "early.heapsnapshot"]).status).toBe(3);
  });

  test("in the right order have the exit code 0", () => {
    const { status, stdout } = ask("early.heapsnapshot", "late.heapsnapshot");
    expect(stdout).toMatch(/^1\. .*Session/);
    expect(status).toBe(0);
  });
});
