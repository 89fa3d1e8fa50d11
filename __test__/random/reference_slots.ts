/**
 * The words that hold references, by the compiler's class table and the runtime's type flags.
 * Deliberately another way to them than the analyzer's: one object at a time, without columns.
 */

import type { DebugInfoDescription } from "../../dist/asc_transform/description.mjs";

/** A word that refers to an object. */
export interface Slot {
  /** The object that the word is in; for contents of a container the container itself. */
  holder: number;
  /** Where the word is. */
  address: number;
  /** The object to which it refers. */
  target: number;
  /** The position of an array's element. */
  element?: number;
  /** Whether the collector reads contents from the object to which this refers, so that it must be valid. */
  isTakenForGranted?: boolean;
}

const FLAG_ARRAY = 2;
const FLAG_STATIC_ARRAY = 4;
const FLAG_SET = 8;
const FLAG_MAP = 16;
const FLAG_VALUE_ALIGN_0 = 6;
const FLAG_VALUE_MANAGED = 1 << 14;
const FLAG_KEY_ALIGN_0 = 15;
const FLAG_KEY_MANAGED = 1 << 23;

/** Fields of arrays, maps and sets. */
const ARRAY_BUFFER = 0;
const ARRAY_DATA_START = 4;
const ARRAY_LENGTH = 12;
const ENTRIES = 8;
const ENTRIES_OFFSET = 16;

const FUNCTION_ENVIRONMENT = 4;

export class ReferenceSlots {
  readonly #words: Uint32Array;
  readonly #typeInfo: number;
  readonly #isObject: (address: number) => boolean;
  readonly #fieldOffsets: Map<number, number[]>;

  /**
   * @param typeInfo where the type flags are.
   * @param isObject whether an object is at an address.
   */
  constructor(
    memory: ArrayBuffer,
    typeInfo: number,
    description: DebugInfoDescription,
    isObject: (address: number) => boolean,
  ) {
    this.#words = new Uint32Array(memory);
    this.#typeInfo = typeInfo;
    this.#isObject = isObject;
    this.#fieldOffsets = fieldOffsets(description);
  }

  word(address: number): number {
    return this.#words[address >>> 2] ?? 0;
  }

  /** The slots of one object, in no particular order. */
  of(holder: number): Slot[] {
    const rtId = this.word(holder - 8);
    const rtSize = this.word(holder - 4);
    const flags = this.word(this.#typeInfo + 4 + 4 * rtId);
    const slots: Slot[] = [];
    const add = (address: number, more: Partial<Slot> = {}) => {
      const target = this.word(address);
      if (target !== 0 && this.#isObject(target)) slots.push({ holder, address, target, ...more });
    };
    const isTable = (flags & (FLAG_SET | FLAG_MAP)) !== 0;
    const isArray = (flags & FLAG_VALUE_MANAGED) !== 0 && (flags & FLAG_ARRAY) !== 0;
    const storage =
      isTable && this.word(holder + ENTRIES_OFFSET) > 0
        ? ENTRIES
        : isArray && this.word(holder + ARRAY_LENGTH) > 0
          ? ARRAY_BUFFER
          : undefined;
    for (const offset of this.#fieldOffsets.get(rtId) ?? [])
      if (offset + 4 <= rtSize)
        add(holder + offset, offset === storage ? { isTakenForGranted: true } : {});
    if (isArray) {
      const start = this.word(holder + ARRAY_DATA_START);
      const length = this.word(holder + ARRAY_LENGTH);
      for (let element = 0; element < length; element++) add(start + 4 * element, { element });
    }
    if ((flags & FLAG_VALUE_MANAGED) !== 0 && (flags & FLAG_STATIC_ARRAY) !== 0)
      for (let element = 0; element < rtSize / 4; element++) add(holder + 4 * element, { element });
    if (isTable) for (const address of this.#entrySlots(holder, flags)) add(address);
    return slots;
  }

  #entrySlots(holder: number, flags: number): number[] {
    const isMap = (flags & FLAG_MAP) !== 0;
    const widthAt = (bit: number) => 1 << Math.max(0, 31 - Math.clz32((flags >>> bit) & 31));
    const alignedTo = (at: number, width: number) => Math.ceil(at / width) * width;
    // The only type argument of a set is described as its value.
    const first = widthAt(isMap ? FLAG_KEY_ALIGN_0 : FLAG_VALUE_ALIGN_0);
    const second = isMap ? widthAt(FLAG_VALUE_ALIGN_0) : 0;
    const valueAt = isMap ? alignedTo(first, second) : 0;
    const tagAt = alignedTo(isMap ? valueAt + second : first, 4);
    const stride = alignedTo(tagAt + 4, Math.max(first, second, 4));
    const managed: number[] = [];
    if (isMap && (flags & FLAG_KEY_MANAGED) !== 0) managed.push(0);
    if ((flags & FLAG_VALUE_MANAGED) !== 0) managed.push(valueAt);
    const slots: number[] = [];
    const entries = this.word(holder + ENTRIES);
    for (let nth = 0; nth < this.word(holder + ENTRIES_OFFSET); nth++) {
      const entry = entries + nth * stride;
      const isDeleted = (this.word(entry + tagAt) & 1) !== 0;
      if (!isDeleted) slots.push(...managed.map((offset) => entry + offset));
    }
    return slots;
  }
}

/** Per runtime id, where references are, those of base classes included. */
function fieldOffsets({ classes }: DebugInfoDescription): Map<number, number[]> {
  const isManaged = (position: number) => {
    const { name, runtimeId } = classes[position] ?? {};
    return runtimeId !== 0 || name === "~lib/object/Object";
  };
  const found = new Map<number, number[]>();
  for (const { name, runtimeId } of classes) {
    if (runtimeId === undefined || (runtimeId === 0 && name !== "~lib/object/Object")) continue;
    const offsets = name.startsWith("~lib/function/Function<") ? [FUNCTION_ENVIRONMENT] : [];
    let at = classes.findIndex((one) => one.runtimeId === runtimeId && one.name === name);
    for (let left = classes.length; left > 0; left--) {
      const ofClass = classes[at];
      if (!ofClass) break;
      for (const { offset, of } of ofClass.fields)
        if ("class" in of && isManaged(of.class)) offsets.push(offset);
      if (ofClass.base === undefined) break;
      at = ofClass.base;
    }
    found.set(runtimeId, [...new Set(offsets)]);
  }
  return found;
}
