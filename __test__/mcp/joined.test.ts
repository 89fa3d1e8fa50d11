// A dump with the heap snapshot of its host, as agents ask about it.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type Session } from "./client.ts";

const SAMPLES = join(import.meta.dirname, "../samples/border");

let folder: string;
let truth: Record<string, number[]>;
let session: Session;
let heap: string;

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

test("a question of one heap is refused, with the reason", async () => {
  expect(await session.failure("waste", { heap })).toContain("ERR_NOT_IN_JOINED");
});
