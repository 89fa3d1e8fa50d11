// The explorer on a dump that is joined with the heap snapshot of its host: what the page asks, and what it is answered.

import type { ChildProcess } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SizeParts } from "../index.js";
import type { Method, Methods } from "../js/explorer/methods.js";
import { unpackReport } from "../js/report/data.ts";
import { failureOf, runIn } from "./support/command_line.ts";
import { startOpen } from "./support/open_explorer.ts";

const SAMPLES = join(import.meta.dirname, "samples/border");
const HOST = ["--host", "tickets.heapsnapshot.zst"];

let folder: string;
let truth: Record<string, number[]>;
let url: URL;
let child: ChildProcess;
/** The handle of the dump. */
let heap = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "explorer-joined-"));
  const unpacked = (name: string) => gunzipSync(readFileSync(join(SAMPLES, `${name}.gz`)));
  for (const name of ["tickets.dump.gz", "tickets.heapsnapshot.zst", "tickets.numbers.json.gz"]) {
    copyFileSync(join(SAMPLES, name), join(folder, name));
  }
  writeFileSync(join(folder, "app.wasm"), unpacked("program.wasm"));
  truth = JSON.parse(unpacked("tickets.truth.json").toString());
  const files = [join(folder, "tickets.dump.gz"), "--wasm", join(folder, "app.wasm")];
  ({ url, child } = await startOpen([...files, "--host", join(folder, HOST[1] as string)]));
  // As the page does it.
  while (heap === "") {
    const status = await ask("status", {});
    heap = status.heap ?? "";
    expect(status.failures).toEqual([]);
    await setTimeout(50);
  }
});
afterAll(() => {
  child?.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function ask<M extends Method>(
  method: M,
  params: Methods[M]["request"],
): Promise<Methods[M]["answer"]> {
  const response = await fetch(new URL("/ask", url), {
    method: "POST",
    headers: { Authorization: `Bearer ${url.searchParams.get("token")}` },
    body: JSON.stringify({ method, params }),
  });
  const { result, error } = (await response.json()) as {
    result: Methods[M]["answer"];
    error?: { message: string };
  };
  if (error !== undefined) throw new Error(error.message);
  return result;
}

function sumOf(parts: SizeParts | undefined): number {
  return parts === undefined ? Number.NaN : parts.javascript + parts.wasm;
}

/** An address that the host holds, by the start of the name of its group. */
function heldAt(kind: string): string {
  const name = Object.keys(truth).find((key) => key.startsWith(kind)) as string;
  const address = truth[name]?.[3] ?? 0;
  return `0x${address.toString(16)}`;
}

test("the path of an object crosses the border, with what speaks for it and both sizes", async () => {
  const { object } = await ask("paths", { heap, address: heldAt("T1") });
  expect(object.path?.root.kind).toBe("global");
  expect(object.path?.steps.at(-1)).toMatchObject({
    label: "handle",
    evidence: { kind: "derived", hits: 40, values: 40 },
    retainedParts: { javascript: 0, wasm: 48 },
  });
  expect(object.cut?.freedParts).toMatchObject({ javascript: 0 });
});

test("the pane of an object has its holders and both sizes; one of JavaScript is asked by its id", async () => {
  const found = await ask("object", { heap, address: heldAt("T1") });
  expect(sumOf(found.retainedParts)).toBe(found.retainedSize);
  const [holder] = found.referrers;
  expect(holder).toMatchObject({ className: "Ticket", evidence: { kind: "derived" } });
  const ticket = await ask("object", { heap, address: holder?.addressText as string });
  expect(ticket.retainedParts).toEqual({ javascript: 40, wasm: 48 });
});

test("what only may hold an object is listed, and no path follows it", async () => {
  const lost = truth.lost?.[0] as number;
  const found = await ask("object", { heap, address: lost });
  expect(found.referrers.filter(({ evidence }) => evidence !== undefined)).toEqual([]);
  expect(found.possibleHolders?.total).toBeGreaterThan(0);
  expect(found.roots[0]?.name).toMatch(/^\(possible: \d+ slots?\)$/);
});

test("in every list, both sizes of an entry are the bytes that it is sorted by", async () => {
  const lists = [
    (await ask("dominators", { heap, limit: 50 })).children,
    (await ask("dominators", { heap, limit: 50, by: "class" })).children,
    (await ask("instances", { heap, class: "Ticket", limit: 50 })).objects,
    (await ask("find", { heap, class: "Ticket", limit: 50 })).objects,
  ];
  for (const list of lists) {
    expect(list.length).toBeGreaterThan(5);
    for (const { retainedSize, retainedParts } of list) {
      expect(sumOf(retainedParts)).toBe(retainedSize);
    }
  }
  const { sum } = await ask("find", { heap, class: "Ticket", sum: "retained" });
  expect(sum).toMatchObject({ bytes: 40 * 88, parts: { javascript: 40 * 40, wasm: 40 * 48 } });
});

test("in the data of the pages, the parts of cells add up heap by heap", async () => {
  const report = unpackReport(await ask("report", { heap }));
  const { parent, kind, retainedSize, shallowSize, addressText, wasmSize = [] } = report.cells;
  const { joined } = report.summary;
  expect(wasmSize[0]).toBe(joined?.wasm.liveSize);
  expect((retainedSize[0] ?? 0) - (wasmSize[0] ?? 0)).toBe(joined?.javascript.liveSize);
  // A cell has what is below it, and its own bytes, which are of one heap.
  const below = parent.map(() => 0);
  for (const [cell, above] of parent.entries()) {
    if (cell > 0) below[above] = (below[above] ?? 0) + (wasmSize[cell] ?? 0);
  }
  for (const [cell, size] of wasmSize.entries()) {
    expect(size).toBeLessThanOrEqual(retainedSize[cell] ?? 0);
    const isOne = kind[cell] === "object" || kind[cell] === "chain";
    if (!isOne) continue;
    const own = addressText[cell]?.startsWith("0x") ? (shallowSize[cell] ?? 0) : 0;
    // A cell without parts is not divided.
    const isDivided = parent.includes(cell, 1);
    if (isDivided) expect(size).toBe((below[cell] ?? 0) + own);
  }
  for (const { retainedSetSize, retainedSetParts } of report.classes.rows) {
    expect(sumOf(retainedSetParts)).toBe(retainedSetSize);
  }
  const ticket = report.classes.rows.find(({ className }) => className === "Ticket");
  expect(ticket?.retainedSetParts).toEqual({ javascript: 40 * 40, wasm: 40 * 48 });
  // What only a dump has is absent, not empty.
  expect(report.waste).toBeNull();
  expect(report.unreachable).toBeNull();
});

test("what is asked of several dumps or of a profile says why there is no answer", async () => {
  await expect(ask("sites", { heap })).rejects.toThrow("there is no profile of this dump");
  await expect(ask("growth", {})).rejects.toThrow("was joined with that of its host");
  const { rows } = await ask("sources", { heap, limit: 5 });
  expect(rows.length).toBe(5);
});

test("a host goes with one dump that is named", () => {
  const open = (...args: string[]) => failureOf(runIn(folder, ["open", ...args, "--no-browser"]));
  const dump = ["tickets.dump.gz", "--wasm", "app.wasm"];
  expect(open(folder, ...HOST, "--wasm", "app.wasm")).toContain("not with a folder");
  expect(open("--attach", "1", ...HOST)).toContain("not with a folder, --attach or --watch");
  expect(open(...dump, "--before", "tickets.dump.gz", ...HOST)).toContain("one dump");
  expect(open(...dump, "--numbers", "x")).toContain("'--numbers' needs --host");
  const { status, stderr } = runIn(folder, [
    "open",
    ...dump,
    ...HOST,
    "--no-browser",
    "--numbers",
    "app.wasm",
  ]);
  expect(status).toBe(1);
  expect(stderr).toContain("cannot read the numbers of the host");
});
