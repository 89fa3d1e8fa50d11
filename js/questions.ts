/** Checks the questions of the class `Heap`, and brings them into the form that the engine reads. */
import { bytes } from "./bytes.js";
import { invalidArgument } from "./errors.js";
import { invalidOption, type Mode, readOptions, typed, wholeNumber } from "./options.js";

/** A question, and the earlier heap for a comparison. */
export interface Asked {
  question: { question: string } & Record<string, unknown>;
  before?: unknown;
}

const text = typed("string");
const address = wholeNumber(0, 2 ** 32 - 1);
const PAGE = { limit: wholeNumber(1), offset: wholeNumber(0) };
/** The largest number of entries of a container in an answer. */
export const MOST_ENTRIES = 1000;
const ENTRIES = { entries: wholeNumber(1, MOST_ENTRIES), offset: wholeNumber(0) };
const LIMIT = { limit: wholeNumber(1) };

/** What a snapshot of V8 tells apart: by the names of the engine. */
export const CATEGORIES = ["detached-nodes", "event-handlers", "contexts", "console"] as const;

function category(name: string, value: unknown): unknown {
  if (CATEGORIES.some((known) => known === value)) return value;
  throw invalidOption(`option ${name}: found ${String(value)}; expected ${CATEGORIES.join(", ")}`);
}

/** The sizes that `find` adds up. */
export const SIZES = ["shallow", "retained"] as const;

function sizeName(name: string, value: unknown): unknown {
  if (SIZES.some((known) => known === value)) return value;
  throw invalidOption(`option ${name}: found ${String(value)}; expected ${SIZES.join(", ")}`);
}

export const summary = (): Asked => ({ question: { question: "summary" } });

export function find(options: unknown, mode: Mode): Asked {
  const checks = {
    class: text,
    minSize: wholeNumber(0),
    contains: text,
    category,
    place: text,
    where: text,
    count: typed("boolean"),
    sum: sizeName,
    groupBy: text,
    before: unchecked,
    ...PAGE,
  };
  const { before, ...read } = readOptions(options, checks, mode);
  return { question: { question: "find", ...read }, before };
}

export function object(at: unknown, options: unknown, mode: Mode): Asked {
  const read = readOptions(options, ENTRIES, mode);
  if (read.offset !== undefined && read.entries === undefined) {
    throw invalidOption("option offset: it needs the option entries, whose first page it moves");
  }
  return { question: { question: "object", address: address("address", at), ...read } };
}

export function referrers(at: unknown, options: unknown, mode: Mode): Asked {
  const read = readOptions(options, PAGE, mode);
  return { question: { question: "referrers", address: address("address", at), ...read } };
}

export function paths(target: unknown, options: unknown, mode: Mode): Asked {
  const read = readOptions(options, LIMIT, mode);
  if (typeof target === "number") {
    const objects = [address("address", target)];
    return { question: { question: "paths", objects, ...read } };
  }
  if (typeof target !== "object" || target === null) {
    throw invalidArgument("target", "an address, or an object with a target", target);
  }
  const chosen = readOptions(
    target,
    { objects: addresses, class: text, newSince: unchecked },
    "sync",
  );
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

export function dominators(options: unknown, mode: Mode): Asked {
  const checks = { address, by: typed("string"), ...PAGE };
  const { by, ...read } = readOptions(options, checks, mode);
  if (by !== undefined && by !== "class") {
    throw invalidOption(`option by: found ${by}; expected "class"`);
  }
  return { question: { question: "dominators", ...read, byClass: by === "class" } };
}

export function suspects(options: unknown, mode: Mode): Asked {
  const checks = { before: unchecked, threshold, ...LIMIT };
  const { before, ...read } = readOptions(options, checks, mode);
  return { question: { question: "suspects", ...read }, before };
}

export function waste(options: unknown, mode: Mode): Asked {
  const read = readOptions(options, PAGE, mode);
  return { question: { question: "waste", ...read } };
}

export function unreachable(options: unknown, mode: Mode): Asked {
  const read = readOptions(options, { maxNodes: wholeNumber(1), ...LIMIT }, mode);
  return { question: { question: "unreachable", ...read } };
}

export function report(options: unknown, mode: Mode): Asked {
  const { before } = readOptions(options, { before: unchecked, strings: typed("boolean") }, mode);
  return { question: { question: "report" }, before };
}

/** What `sites` compares, and the part of the lines that is wanted. */
export function sites(options: unknown, mode: Mode) {
  const checks = { profile: bytes, before: unchecked, beforeProfile: bytes, ...PAGE };
  const read = readOptions(options, checks, mode);
  const { profile, before, beforeProfile, limit = 20, offset = 0 } = read;
  if (before === undefined && beforeProfile !== undefined) {
    throw invalidOption("option beforeProfile: it needs the option before, the heap of its moment");
  }
  if (before !== undefined && (profile === undefined) !== (beforeProfile === undefined)) {
    throw invalidOption(
      "one of the two moments has no profile: expected both profile and beforeProfile, or neither for snapshots of V8",
    );
  }
  return {
    profile: profile as Uint8Array | undefined,
    before,
    beforeProfile: beforeProfile as Uint8Array | undefined,
    limit: limit as number,
    offset: offset as number,
  };
}

function unchecked(_: string, value: unknown): unknown {
  return value;
}

function addresses(name: string, value: unknown): unknown[] {
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
