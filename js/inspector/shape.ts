// Shapes of answers. A shape reads a value that is not trusted, and returns a new one that has nothing else: the fields
// that are named, of the types that are named, no larger than it says.

import { shown } from "../text.js";

/** Reads a value. Throws a {@link Misfit} if it has another shape. */
export type Shape<T> = (value: unknown, path: string) => T;

/** Which part of a value has another shape, as a sentence without its subject. */
export class Misfit extends Error {
  constructor(path: string, value: unknown, expected: string) {
    super(`answered ${shown(value, 40)} for ${path || "it"}, expected ${expected}`);
  }
}

/** A value whose shape is checked where it is used. */
export const anything: Shape<unknown> = (value) => value;

/** A text of at most so many characters. */
export function text(most: number): Shape<string> {
  return (value, path) => {
    if (typeof value === "string" && value.length <= most) return value;
    throw new Misfit(path, value, `a text of at most ${most} characters`);
  };
}

/** The beginning of a text. */
export function beginning(most: number): Shape<string> {
  return (value, path) => {
    if (typeof value !== "string") throw new Misfit(path, value, "a text");
    // A part of a text would keep all of it in memory.
    return value.length <= most ? value : Buffer.from(value.slice(0, most)).toString();
  };
}

/** A whole number from 0. */
export function whole(most: number): Shape<number> {
  return (value, path) => {
    if (Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most) {
      return value as number;
    }
    throw new Misfit(path, value, `a whole number up to ${most}`);
  };
}

/** A list of at most so many entries. */
export function listOf<T>(entry: Shape<T>, most: number): Shape<T[]> {
  return (value, path) => {
    if (Array.isArray(value) && value.length <= most) {
      return value.map((one, nth) => entry(one, `${path}[${nth}]`));
    }
    throw new Misfit(path, value, `a list of at most ${most} entries`);
  };
}

/** A value that may be absent. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

/** An object with these fields. Others are left out. */
export function record<T extends Record<string, Shape<unknown>>>(
  fields: T,
): Shape<{ [K in keyof T]: ReturnType<T[K]> }> {
  const shapes = Object.entries(fields);
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Misfit(path, value, "an object");
    }
    const read: Record<string, unknown> = {};
    for (const [name, shape] of shapes) {
      const field = Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined;
      read[name] = shape(field, path === "" ? name : `${path}.${name}`);
    }
    return read as { [K in keyof T]: ReturnType<T[K]> };
  };
}
