/**
 * A program of Rust and JavaScript whose objects hold each other: JavaScript holds desks by the handles of wasm-bindgen, and
 * Rust holds clients by their places in a table of `externref`.
 */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Heap, openHeapFile } from "@warpo/heap-analyzer";
import { expect } from "vitest";

const SAMPLE = join(import.meta.dirname, "../samples/border/wasm-bindgen");
/** Where Rust keeps the place of a client. */
const SLOT = "desk::Session.client.idx=app.exports.__wbindgen_externrefs";

/** The pointers of desks that are open, and of those that were freed. */
export interface DeskTruth {
  open: string[];
  closed: string[];
}

/** Puts the unpacked program into a folder, in which its host finds the package. */
export function unpackProgram(folder: string): void {
  mkdirSync(join(folder, "node_modules/@warpo"), { recursive: true });
  const root = join(import.meta.dirname, "../..");
  symlinkSync(root, join(folder, "node_modules/@warpo/heap-analyzer"), "junction");
  for (const name of readdirSync(SAMPLE)) {
    const file = join(SAMPLE, name);
    if (name.endsWith(".gz")) {
      writeFileSync(join(folder, name.slice(0, -3)), gunzipSync(readFileSync(file)));
    } else copyFileSync(file, join(folder, name));
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
}

/** Compares a captured pair of the program with what it knows. */
export function expectHolders(folder: string, prefix: string, truth: DeskTruth): void {
  const host = `${prefix}.heapsnapshot`;
  // wasm-bindgen moves the addresses of variables in the debug information, but not in the memory.
  const module = join(folder, "desk.wasm");
  const open = (slots: string[]) => openHeapFile(`${prefix}.dump`, module, { host, slots });
  const undeclared = open([]);
  expectDesks(undeclared, truth);
  // All clients that the program has are in the table, and no other.
  expect(() => undeclared.find({ class: "Gone" })).toThrow('no live object of a class "Gone"');
  for (const { holders } of [...clients(undeclared, "Client"), ...clients(undeclared, "Visitor")]) {
    expect(holders).toEqual([expect.stringMatching(/^\(array\)\{\d+\} Table$/)]);
  }
  undeclared.close();

  const declared = open([SLOT]);
  const visitors = clients(declared, "Visitor");
  expect(visitors.map(({ holders }) => holders)).toEqual(
    Array.from({ length: 10 }, () => ["desk::Session.client.idx declared"]),
  );
  // Each is the one whose number the session has, too.
  const numbers = visitors.map(({ address }) => {
    const [session] = declared.referrers(address).referrers;
    const number = fieldOf(declared, session?.address as number, "number");
    return `visitor ${number}`;
  });
  expect(numbers).toEqual(visitors.map(({ name }) => name));
  for (const { address } of visitors) {
    expect(declared.paths(address).path?.text).toContain("desk::WAITING > ");
  }
  // What Rust holds in objects whose type is not known, the table still keeps.
  for (const { holders } of clients(declared, "Client")) {
    expect(holders).toEqual([expect.stringMatching(/^\(array\)\{\d+\} Table$/)]);
  }
  declared.close();
}

/** Open desks have their handles as holders, and are alive for the sake of the map; freed ones have none. */
function expectDesks(heap: Heap, { open, closed }: DeskTruth): void {
  // Before the object are the counts of `Rc`.
  const block = (pointer: string) => Number(pointer) - 8;
  for (const pointer of open) {
    const { referrers } = heap.referrers(block(pointer));
    const holders = referrers.filter(({ evidence }) => evidence !== undefined);
    expect(holders).toMatchObject([
      { className: "Desk", labelText: ".__wbg_ptr", evidence: { kind: "exact" } },
    ]);
    expect(heap.paths(block(pointer)).path?.text).toContain(".desks > ");
  }
  for (const pointer of closed) {
    expect(() => heap.object(block(pointer))).toThrow("there is no object");
  }
  const { joined } = heap.summary();
  expect(joined?.pinned).toMatchObject({ total: open.length, exact: open.length });
}

/** The clients of a class: their names, and what holds them, with what speaks for it or what has that. */
function clients(heap: Heap, className: string) {
  const { objects } = heap.find({ class: className, limit: 100 });
  const found = objects.map(({ address }) => {
    const name = String(fieldOf(heap, address, "name")).replaceAll('"', "");
    const { referrers } = heap.referrers(address);
    const holders = referrers.map(({ address: holder, className, labelText, evidence }) => {
      const of = evidence?.kind ?? heap.referrers(holder as number).referrers[0]?.className;
      return `${className}${labelText} ${of}`;
    });
    return { address, name, holders };
  });
  return found.sort((one, other) => one.address - other.address);
}

function fieldOf(heap: Heap, address: number, field: string) {
  return heap.object(address).fields.find(({ name }) => name === field)?.value;
}
