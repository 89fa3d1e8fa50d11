// Programs that log the type of their blocks, and how what the analyzer finds agrees.

import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";
import { exposeGlobals, writeDump } from "../../dist/capture.js";
import { openHeap } from "../../dist/index.js";
import { systemImports } from "./wasi.ts";

/** What a program logged until it asked for a dump. */
export interface TypedGuest {
  wasm: Uint8Array<ArrayBuffer>;
  dump: Uint8Array<ArrayBuffer>;
  /** The names of types, by the address of their block. */
  types: Map<number, string>;
  /** The sizes that were asked for, by address. */
  live: Map<number, number>;
}

/** Runs a module until it asks for a dump. */
export function dumpedWithTypes(file: string): TypedGuest {
  const wasm = new Uint8Array(readFileSync(file));
  const types = new Map<number, string>();
  const live = new Map<number, number>();
  let dump = new Uint8Array();
  let atDump = { types, live };
  const wasi = new WASI({ version: "preview1", args: ["guest"] });
  const imports = systemImports(wasi);
  const text = (start: number) => {
    const memory = new Uint8Array((instance.exports.memory as WebAssembly.Memory).buffer);
    return new TextDecoder().decode(memory.slice(start, memory.indexOf(0, start)));
  };
  const nothing = () => 0;
  const truth = {
    alloc: (block: number, size: number) => live.set(block, size),
    freed: (block: number) => {
      types.delete(block);
      live.delete(block);
    },
    fate: nothing,
    type: (block: number, name: number) => types.set(block, text(name)),
    dump: () => {
      atDump = { types: new Map(types), live: new Map(live) };
      const path = file.replace(/\.wasm$/, ".dump");
      writeDump(instance.exports, path);
      dump = new Uint8Array(readFileSync(path));
    },
  };
  const module = new WebAssembly.Module(exposeGlobals(wasm));
  const env = new Proxy({}, { has: () => true, get: () => nothing });
  const instance = new WebAssembly.Instance(module, { ...imports, env, truth });
  if ("_start" in instance.exports) wasi.start(instance);
  else (instance.exports.run as () => void)();
  return { wasm, dump, ...atDump };
}

/** Blocks to which something refers, and their bytes; and of these, those that have types. */
export interface TypedSums {
  blocks: number;
  bytes: number;
  typedBlocks: number;
  typedBytes: number;
}

/** The sums of an open heap, without some blocks. */
export function typedSums(
  heap: ReturnType<typeof openHeap>,
  isLeftOut: (address: number) => boolean = () => false,
): TypedSums {
  const sums = { blocks: 0, bytes: 0, typedBlocks: 0, typedBytes: 0 };
  for (const { address, className, shallowSize } of heap.find({ limit: 1_000_000 }).objects) {
    if (isLeftOut(address)) continue;
    if (heap.paths(address).path?.text.startsWith("unreferenced")) continue;
    sums.blocks += 1;
    sums.bytes += shallowSize;
    if (className.startsWith("block of ")) continue;
    sums.typedBlocks += 1;
    sums.typedBytes += shallowSize;
  }
  return sums;
}

/** The parts of the blocks, and of their bytes, that have types, of those that something refers to. */
export function typedShare(heap: ReturnType<typeof openHeap>) {
  const { blocks, bytes, typedBlocks, typedBytes } = typedSums(heap);
  return { blocks: typedBlocks / blocks, bytes: typedBytes / bytes };
}

/** One element and an array of one are the same; a mark says that a type is a guess. */
const element = (name: string) => name.replace(/(\[\])?\??$/, "");

/** The log of blocks to which only a void pointer, or nothing, refers. */
const UNTYPED = /^(hidden|lost|.\^std::__function::.*)$/;

/** Whether the name of a class agrees with what a log says: one of several names, or a regular expression. */
function agrees(className: string, logged: string): boolean {
  if (logged.startsWith("/")) return new RegExp(logged.slice(1, -1)).test(className);
  return logged.split("|").some((one) => element(one) === element(className));
}

/** The types that the log contradicts, and the sums of the heap. */
export function judgedTypes({ wasm, dump, types }: TypedGuest) {
  const heap = openHeap(dump, wasm);
  const wrong: string[] = [];
  for (const { address, className } of heap.find({ limit: 1_000_000 }).objects) {
    const logged = types.get(address);
    if (logged === undefined || className.startsWith("block of ")) continue;
    if (!agrees(className, logged)) wrong.push(`${address.toString(16)} ${className}: ${logged}`);
  }
  const sums = typedSums(heap, (address) => UNTYPED.test(types.get(address) ?? ""));
  heap.close();
  return { wrong, sums };
}
