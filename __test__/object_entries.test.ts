// `object` pages through containers: the API and the command line, on a program with all kinds of containers.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { compileSource, UNOPTIMISED } from "./support/compile.ts";

const SOURCE = `
class Item { constructor(public id: i32) {} }
export const numbers: Array<f64> = [];
export const items: Array<Item | null> = [];
export const bytes = new Uint8Array(300);
export const fixed = new StaticArray<i16>(40);
export const byName = new Map<string, Item>();
export const ids = new Set<u64>();
export function fill(): void {
  for (let i = 0; i < 300; i++) {
    numbers.push(<f64>i / 2);
    items.push(i % 10 == 0 ? null : new Item(i));
    bytes[i] = <u8>i;
    byName.set("item " + i.toString(), new Item(i));
    ids.add(<u64>i * 0x100000000);
  }
  for (let i = 0; i < 40; i++) fixed[i] = <i16>(-i);
  for (let i = 0; i < 300; i += 3) {
    byName.delete("item " + i.toString());
    ids.delete(<u64>i * 0x100000000);
  }
}
`;

let folder: string;
let heap: Heap;

beforeAll(async () => {
  const { wasm } = await compileSource("containers", SOURCE, UNOPTIMISED);
  const { instance } = await WebAssembly.instantiate(exposeGlobals(wasm), { env: { abort() {} } });
  const program = instance.exports as WebAssembly.Exports & { fill(): void };
  program.fill();
  folder = mkdtempSync(join(tmpdir(), "object-entries-"));
  writeFileSync(join(folder, "app.wasm"), wasm);
  writeFileSync(join(folder, "app.dump"), captureDump(program));
  heap = openHeapFile(join(folder, "app.dump"), join(folder, "app.wasm"));
});
afterAll(() => {
  heap.close();
  rmSync(folder, { recursive: true });
});

/** The address of the container that this global holds. */
function addressOf(name: string): number {
  for (const { address } of heap.find({ limit: 10_000 }).objects) {
    const { roots } = heap.object(address);
    if (roots.some((root) => root.name?.endsWith(`/${name}`))) return address;
  }
  throw new Error(`no global ${name}`);
}

/** The whole container in pages of a size. */
function pagesOf(name: string, size: number) {
  const address = addressOf(name);
  const entries = [];
  for (let offset = 0; ; offset += size) {
    const { entries: page } = heap.object(address, { entries: size, offset });
    if (page === undefined) throw new Error(`${name} is no container`);
    if (page.entries.length === 0) return { ...page, entries };
    entries.push(...page.entries);
  }
}

const all = Array.from({ length: 300 }, (_, nth) => nth);
const kept = all.filter((nth) => nth % 3 !== 0);

test("pages of any size are the contents that the program wrote", () => {
  for (const size of [7, 100, 1000]) {
    const values = (name: string) => pagesOf(name, size).entries.map(({ value }) => value.value);
    expect(values("numbers")).toEqual(all.map((nth) => nth / 2));
    expect(values("bytes")).toEqual(all.map((nth) => nth % 256));
    expect(values("fixed")).toEqual(Array.from({ length: 40 }, (_, nth) => 0 - nth));
    expect(values("ids")).toEqual(kept.map((nth) => String(nth * 0x1_0000_0000)));
    const items = pagesOf("items", size);
    expect(items.total).toBe(300);
    for (const { index, name, value } of items.entries) {
      expect(name).toBe(`[${index}]`);
      const id = value.address === null ? null : heap.object(value.address).fields[0]?.value;
      expect(id).toBe(index % 10 === 0 ? null : index);
    }
    const map = pagesOf("byName", size);
    expect([map.kind, map.total]).toEqual(["map", 200]);
    expect(map.entries.map(({ key }) => key?.value)).toEqual(kept.map((nth) => `"item ${nth}"`));
    const ids = map.entries.map(({ value }) => heap.object(value.address ?? 0).fields[0]?.value);
    expect(ids).toEqual(kept);
  }
});

test("a page beyond the end is empty, and only containers have one", async () => {
  const address = addressOf("numbers");
  const { entries } = await heap.objectAsync(address, { entries: 5, offset: 1e12 });
  expect(entries).toEqual({ kind: "elements", total: 300, offset: 1e12, limit: 5, entries: [] });
  expect(heap.object(address)).not.toHaveProperty("entries");
  const [item] = heap.find({ class: "*Item" }).objects;
  expect(heap.object(item?.address ?? 0, { entries: 5 })).not.toHaveProperty("entries");
  for (const options of [
    { entries: 0 },
    { entries: 1001 },
    { offset: 5 },
    { entries: 1, offset: -1 },
  ]) {
    expect(() => heap.object(address, options)).toThrow(/entries|offset/);
  }
});

test("the command lists the same page", () => {
  const at = String(addressOf("byName"));
  const command = ["object", "app.dump", at, "--wasm", "app.wasm"];
  const page = [...command, "--entries", "2", "--offset", "100"];
  const json = JSON.parse(outputOf(runIn(folder, [...page, "--format", "json"])));
  expect(json.entries).toEqual(heap.object(Number(at), { entries: 2, offset: 100 }).entries);
  const text = outputOf(runIn(folder, page));
  expect(text).toContain("200 entries, of which 101 to 102");
  expect(text).toMatch(/100 +"item 151" +\S*Item@0x[0-9a-f]+ +0x[0-9a-f]+/);
  expect(failureOf(runIn(folder, [...command, "--offset", "2"]))).toContain("--entries");
  expect(failureOf(runIn(folder, [...command, "--entries", "1001"]))).toContain("from 1 to 1000");
});
