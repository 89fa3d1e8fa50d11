/** What is known of the numbers that JavaScript keeps. */

/** A slot of a JavaScript object with a number that may be an address: its name, the number, and the key of a map's value. */
export type NumberSlot = [name: string | number, address: number, key?: string];

/** A JavaScript object with numbers that may be addresses of the program's memory. */
export interface NumberHolder {
  /** The id of its node in the heap snapshot. */
  id: number;
  /** `Array`, `Map`, `Set`, `Number`, `Closure`, or the name of a typed array. */
  kind: string;
  /**
   * Slots whose numbers may be addresses: of an element its index, `key`, `value` (with the first 40 characters of the
   * key), `member`, `[[PrimitiveValue]]`, or of a closure the variable. Numbers of 32 bits are unsigned.
   */
  slots: NumberSlot[];
  /** How many other numbers its slots have, except 0 and -1, by the kind of slot. Elements are `i`. */
  other: Record<string, number>;
  /**
   * Of an array with both: its other numbers by index modulo 2, 3, … 8. Entry `[step - 2][remainder]`.
   */
  steps?: number[][];
  /** Of a closure: in which of its scopes the variables are. 0 is the innermost. */
  scope?: number;
}

/** What was read in JavaScript, and what was not. */
export interface NumbersRead {
  /** Arrays, maps, sets, `Number` objects and typed arrays that were read. */
  containers: number;
  /** Of these, how many have numbers that were not read: more than 1,000,000 elements, or too many candidates in all. */
  cutContainers: number;
  /** Objects with candidates that are not in the heap snapshot, and are left out. */
  unknownObjects: number;
  /**
   * True if the engine does not list typed arrays, as in Chromium. Those in properties, elements, maps and sets were read
   * all the same. Absent if it lists them.
   */
  hiddenTypedArrays?: true;
  /** Functions whose variables were read. Absent if they were not to be read. */
  functions?: number;
  /** Of these, how many were left out because there are too many. */
  cutFunctions?: number;
}

/** Which numbers may be addresses. */
export interface AddressRange {
  /** The least: the start of the program's heap. */
  lo: number;
  /** Above the largest: the size of the memory. */
  hi: number;
}

/** All numbers of a moment. */
export interface HostNumbers extends AddressRange {
  read: NumbersRead;
  objects: NumberHolder[];
}

/** The allocators of AssemblyScript return multiples of 16, those of C and Rust multiples of 8. */
export const ALIGNMENT = 8;
