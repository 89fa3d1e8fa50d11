/** The questions of the class `Heap` in the form in which the engine reads them, checked. */
import type * as api from "../index.js";
import { flag, readOptions, text, wholeNumber } from "./arguments.js";
import { invalidArgument, invalidOption } from "./bytes.js";

/** A question, and the earlier heap that it compares with. */
export interface Asked {
  question: { question: string } & Record<string, unknown>;
  before?: unknown;
}

const PAGE = { limit: wholeNumber(1), offset: wholeNumber(0) };
const LIMIT = { limit: wholeNumber(1) };

export const summary = (): Asked => ({ question: { question: "summary" } });

export function find(options: unknown): Asked {
  const read = readOptions(options, {
    class: text,
    minSize: wholeNumber(0),
    contains: text,
    ...PAGE,
  });
  return { question: { question: "find", ...read } };
}

export function object(at: unknown, options?: unknown): Asked {
  readOptions(options, {});
  return { question: { question: "object", address: address("address", at) } };
}

export function referrers(at: unknown, options: unknown): Asked {
  const read = readOptions(options, PAGE);
  return { question: { question: "referrers", address: address("address", at), ...read } };
}

export function paths(target: unknown, options: unknown): Asked {
  const read = readOptions(options, LIMIT);
  if (typeof target === "number") {
    const objects = [address("address", target)];
    return { question: { question: "paths", objects, ...read } };
  }
  if (typeof target !== "object" || target === null) {
    throw invalidArgument("target", "an address, or an object with a target", target);
  }
  const chosen = readOptions(target, { objects: addresses, class: text, newSince: unchecked });
  const given = Object.keys(chosen);
  if (given.length !== 1) {
    throw invalidOption(
      `the target of paths: found ${given.length === 0 ? "nothing" : given.join(" and ")}; ` +
        "expected exactly one of objects, class, newSince",
    );
  }
  const { newSince, ...direct } = chosen;
  if (newSince === undefined) return { question: { question: "paths", ...direct, ...read } };
  return { question: { question: "paths", newSince: true, ...read }, before: newSince };
}

export function dominators(options: unknown): Asked {
  const { by, ...read } = readOptions(options, { address, by: unchecked, ...PAGE });
  if (by !== undefined && by !== "class") {
    throw invalidOption(`option by: found ${String(by)}; expected "class"`);
  }
  return { question: { question: "dominators", ...read, byClass: by === "class" } };
}

export function suspects(options: unknown): Asked {
  const { before, ...read } = readOptions(options, { before: unchecked, threshold, ...LIMIT });
  return { question: { question: "suspects", ...read }, before };
}

function unchecked(_: string, value: unknown): unknown {
  return value;
}

/** An offset in linear memory. */
function address(name: string, value: unknown): number {
  if (typeof value !== "number") throw invalidArgument(name, "an address (number)", value);
  if (!(Number.isInteger(value) && value >= 0 && value < 2 ** 32)) {
    throw invalidOption(`${name}: found ${value}; expected an address, a whole number below 2^32`);
  }
  return value;
}

function addresses(name: string, value: unknown): number[] {
  if (!Array.isArray(value)) throw invalidArgument(name, "an array of addresses", value);
  return value.map((one, nth) => address(`${name}[${nth}]`, one));
}

function threshold(name: string, value: unknown): number {
  if (typeof value !== "number") throw invalidArgument(name, "a number", value);
  if (!(value > 0 && value <= 1)) {
    throw invalidOption(`${name}: found ${value}; expected a number above 0 and at most 1`);
  }
  return value;
}
