/**
 * Who refers to an object, found without the analyzer: by looking at every word that could be a
 * reference. An object whose address occurs once has one referrer for certain.
 */

import type { HeapTruth } from "../support/truth.ts";

/** The place of a word: in memory, or in a global. */
export type Place = { address: number } | { global: string };

/** `entries` of a map or a set, which the runtime reads without a check for null. */
const ENTRIES_OFFSET = 8;
const SET_OR_MAP = 8 | 16;

const PINNED = 3;

export interface MemoryParts {
  memory: ArrayBuffer;
  dataEnd: number;
  stackPointer: number;
  heapBase: number;
  /** Where the run-time type flags are. */
  typeInfo: number;
  /** Values of mutable globals by name. */
  globals: Map<string, number>;
}

/** Objects of a collected heap to which exactly one word leads, and that word's place. */
export function objectsWithOneReferrer(truth: HeapTruth, parts: MemoryParts): [number, Place][] {
  const words = new Uint32Array(parts.memory);
  const places = new Map<number, Place | "several">();
  const add = (value: number, place: Place) => {
    if (value !== 0 && truth.has(value)) places.set(value, places.has(value) ? "several" : place);
  };
  const addWords = (from: number, to: number) => {
    for (let address = from; address + 4 <= to; address += 4)
      add(words[address >>> 2] ?? 0, { address });
  };
  addWords(0, parts.dataEnd);
  addWords(parts.stackPointer, parts.heapBase);
  for (const [global, value] of parts.globals) add(value, { global });
  const entries = new Set<number>();
  for (const [address, { rtId, rtSize }] of truth) {
    addWords(address, address + rtSize);
    const flags = words[(parts.typeInfo >>> 2) + 1 + rtId] ?? 0;
    if ((flags & SET_OR_MAP) !== 0) entries.add(address + ENTRIES_OFFSET);
  }
  const found: [number, Place][] = [];
  for (const [address, place] of places) {
    if (place === "several" || ("address" in place && entries.has(place.address))) continue;
    // A pin refers to an object, but no word of the memory has its address.
    if (((words[(address - 16) >>> 2] ?? 0) & 3) === PINNED) continue;
    found.push([address, place]);
  }
  return found;
}
