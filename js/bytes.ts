/**
 * Checks the bytes that a caller passes.
 *
 * The checks run no code of the caller, because they use the built-in methods and getters, not those of
 * the object. So the results are still true in the call of the addon that follows.
 */
import { types } from "node:util";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";

const { prototype } = Object.getPrototypeOf(Uint8Array) as { prototype: Uint8Array };

function getter<K extends "buffer" | "byteOffset" | "length">(key: K) {
  const get = Object.getOwnPropertyDescriptor(prototype, key)?.get as () => Uint8Array[K];
  return (array: Uint8Array): Uint8Array[K] => get.call(array);
}

const bufferOf = getter("buffer");
const byteOffsetOf = getter("byteOffset");
const lengthOf = getter("length");
const { keys, set } = prototype;

/** An array that the addon may read until the caller's code runs again. */
export function bytes(name: string, given: unknown): Uint8Array {
  const value = types.isAnyArrayBuffer(given) ? wholeBuffer(name, given) : given;
  // Not `instanceof`: test runners pass objects of other realms.
  if (!types.isUint8Array(value)) {
    throw invalidArgument(name, "a Uint8Array, Buffer or ArrayBuffer", value);
  }
  const buffer = bufferOf(value);
  if (isOutOfBounds(value)) throw unreadable(name, buffer);
  // Another thread may write to shared memory while it is read: read a copy.
  return types.isSharedArrayBuffer(buffer) ? copyOf(name, value, buffer) : value;
}

/** The bytes of a module; absent for a heap snapshot of V8, which has none. */
export function moduleBytes(value: unknown): Uint8Array | undefined {
  return value === undefined || value === null ? undefined : bytes("wasm", value);
}

/** All bytes of a buffer. */
function wholeBuffer(name: string, buffer: ArrayBufferLike): Uint8Array {
  try {
    return new Uint8Array(buffer);
  } catch {
    throw unreadable(name, buffer);
  }
}

/** Whether the buffer is detached or too short. The length of such an array is 0, as of an empty one. */
function isOutOfBounds(array: Uint8Array): boolean {
  try {
    keys.call(array);
    return false;
  } catch {
    return true;
  }
}

function copyOf(name: string, array: Uint8Array, buffer: SharedArrayBuffer): Uint8Array {
  // The length is read once, because another thread may make the memory grow.
  const length = lengthOf(array);
  let copy: Uint8Array;
  try {
    copy = new Uint8Array(length);
  } catch (error) {
    throw new HeapAnalyzerError(
      "ERR_OUT_OF_MEMORY",
      `argument "${name}" is shared memory, and there is no memory for a copy of its ${length} bytes; ` +
        "pass a file instead, or use a larger machine",
      { cause: error },
    );
  }
  set.call(copy, new Uint8Array(buffer, byteOffsetOf(array), length));
  return copy;
}

function unreadable(name: string, buffer: ArrayBufferLike): Error {
  return isDetached(buffer)
    ? new HeapAnalyzerError(
        "ERR_BUFFER_DETACHED",
        `the buffer of argument "${name}" is detached: it was transferred, for example by postMessage, or ` +
          "it was a WebAssembly.Memory's and memory.grow replaced it; pass the bytes before that happens, " +
          "or take them from memory.buffer again",
      )
    : new HeapAnalyzerError(
        "ERR_BUFFER_OUT_OF_BOUNDS",
        `argument "${name}" lies outside of its buffer, which was resized and is too short now; ` +
          "make a new Uint8Array on the buffer",
      );
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer, 0, 0);
    return false;
  } catch {
    return true;
  }
}
