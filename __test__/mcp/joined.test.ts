// A dump with the heap snapshot of its host, as agents ask about it.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackedSize } from "../../js/served/unpacked_size.ts";
import { connect, type Session, textOf } from "./client.ts";

const SAMPLES = join(import.meta.dirname, "../samples/border");

let folder: string;
let truth: Record<string, number[]>;
let session: Session;
let heap: string;
/** What was said when it was opened. */
let opened: { totalLiveSize: number; totalLiveParts: { javascript: number; wasm: number } };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcp-joined-"));
  const unpacked = (name: string) => gunzipSync(readFileSync(join(SAMPLES, `${name}.gz`)));
  for (const name of ["tickets.dump.gz", "tickets.heapsnapshot.zst", "tickets.numbers.json.gz"]) {
    copyFileSync(join(SAMPLES, name), join(folder, name));
  }
  writeFileSync(join(folder, "app.wasm"), unpacked("program.wasm"));
  truth = JSON.parse(unpacked("tickets.truth.json").toString());
  session = await connect(["--root", folder]);
  const { heaps } = await session.call("open_heaps", {
    dumps: ["tickets.dump.gz"],
    wasm: "app.wasm",
    host: "tickets.heapsnapshot.zst",
    numbers: "tickets.numbers.json.gz",
  });
  [opened] = heaps;
  heap = heaps[0].heap;
});
afterAll(async () => {
  await session.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An address of a group of objects, by the start of its name. */
function addressOf(kind: string): number {
  const name = Object.keys(truth).find((key) => key.startsWith(kind)) as string;
  return truth[name]?.[3] as number;
}

test("a path leads from JavaScript to the object that it holds by number", async () => {
  const { object } = await session.call("paths", { heap, address: addressOf("T1") });
  expect(object.path.root.kind).toBe("global");
  expect(object.path.steps.at(-1)).toMatchObject({
    evidence: { kind: "derived", hits: 40, values: 40 },
    retainedParts: { javascript: 0, wasm: 48 },
  });
  expect(object.cut.freedParts).toEqual({ javascript: 0, wasm: 48 });
});

test("the paths of a class, sums and lists have the sizes of both heaps", async () => {
  const parts = { javascript: 40 * 40, wasm: 40 * 48 };
  const { merged } = await session.call("paths", { heap, class: "Ticket" });
  expect(merged).toMatchObject({ count: 40, retainedSetParts: parts });
  // What several tickets keep alive together is freed, too.
  expect(merged.freedParts.wasm).toBe(parts.wasm);
  expect(merged.freedParts.javascript).toBeGreaterThanOrEqual(parts.javascript);
  const { sum, objects } = await session.call("find", { heap, class: "Ticket", sum: "retained" });
  expect(sum.parts).toEqual(parts);
  expect(objects[0].retainedParts).toEqual({ javascript: 40, wasm: 48 });
  // An object of JavaScript is asked by its id.
  const ticket = await session.call("object", { heap, address: objects[0].addressText });
  expect(ticket.retainedParts).toEqual({ javascript: 40, wasm: 48 });
  const { suspects } = await session.call("suspects", { heap });
  expect(suspects[0].text).toMatch(/of JavaScript/);
});

test("an object that is lost has no holder, and what may be one is not followed", async () => {
  const lost = addressOf("lost");
  const { roots, possibleHolders, referrers } = await session.call("object", {
    heap,
    address: lost,
  });
  expect(roots[0].kind).toBe("pinned");
  expect(possibleHolders.total).toBeGreaterThan(0);
  expect(referrers.filter((edge: { evidence?: unknown }) => edge.evidence)).toEqual([]);
  const { object } = await session.call("paths", { heap, address: lost });
  expect(object.path.steps).toHaveLength(1);
});

test("classes, suspects and the open heap have the bytes of each heap", async () => {
  const { totalLiveSize, totalLiveParts } = opened;
  expect(totalLiveParts.javascript + totalLiveParts.wasm).toBe(totalLiveSize);
  const { rows, ...classes } = await session.call("classes", { heap, class: "Ticket" });
  expect(classes).toMatchObject({ totalLiveSize, totalLiveParts });
  expect(rows).toEqual([
    {
      className: "Ticket",
      count: 40,
      shallowSize: 40 * 40,
      shallowParts: { javascript: 40 * 40, wasm: 0 },
      retainedSize: 40 * 88,
      retainedParts: { javascript: 40 * 40, wasm: 40 * 48 },
    },
  ]);
  expect(await session.call("suspects", { heap })).toMatchObject({ totalLiveParts });
  for (const [name, asked] of [
    ["classes", { heap, class: "Ticket" }],
    ["suspects", { heap }],
  ] as const) {
    const result = await session.client.callTool({ name, arguments: asked });
    expect(textOf(result)).toMatch(/Live: \S+ \S+ of JavaScript and \S+ \S+ of wasm\./);
  }
});

test("a question of one heap is refused, with the reason", async () => {
  expect(await session.failure("waste", { heap })).toContain("ERR_NOT_IN_JOINED");
  expect(await session.failure("suspects", { heap, before: heap })).toContain("ERR_NOT_IN_JOINED");
  expect(await session.failure("compare", { heap, before: heap })).toContain("ERR_NOT_IN_JOINED");
  expect(await session.failure("growth", { heaps: [heap, heap] })).toContain("ERR_NOT_IN_JOINED");
});

test("a pair needs the memory of all of its files", async () => {
  const names = ["tickets.dump.gz", "tickets.heapsnapshot.zst", "tickets.numbers.json.gz"];
  const [dump = 0, snapshot = 0, numbers = 0] = names.map((name) => {
    const file = readFileSync(join(folder, name));
    return unpackedSize(file, file.subarray(-4), file.length);
  });
  const open = { dumps: [names[0]], wasm: "app.wasm", host: names[1] };
  const limited = async (bytes: number) => {
    const memory = `${Math.ceil((bytes * 2.6) / 2 ** 10)}KiB`;
    return await connect(["--root", folder, "--memory", memory]);
  };
  const small = await limited(Math.max(dump, snapshot) + 1000);
  expect(await small.failure("open_heaps", open)).toContain("ERR_MEMORY_LIMIT");
  await small.close();
  const large = await limited(dump + snapshot + numbers + 1000);
  expect((await large.call("open_heaps", open)).heaps).toHaveLength(1);
  await large.close();
});

describe("the numbers", () => {
  const host = { dumps: ["tickets.dump.gz"], wasm: "app.wasm", host: "tickets.heapsnapshot.zst" };
  test("are found beside the heap snapshot", async () => {
    const answer = await session.call("open_heaps", host);
    const { heap: _, ...found } = answer.heaps[0];
    expect(opened).toMatchObject(found);
    expect(answer.warnings).toEqual([]);
    expect(answer.evidence.numbers).toBe("exact");
  });

  test("that are missing are warned of, and the answer is not exact", async () => {
    const alone = "alone.heapsnapshot.zst";
    copyFileSync(join(SAMPLES, "tickets.heapsnapshot.zst"), join(folder, alone));
    const answer = await session.call("open_heaps", { ...host, host: alone });
    expect(answer.warnings.map(({ code }: { code: string }) => code)).toEqual([
      "WARN_HOST_NUMBERS_MISSING",
    ]);
    expect(answer.evidence.numbers).toBe("may be wrong, see warnings");
  });
});
