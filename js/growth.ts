/** `growth` and `check` of the public API: several heaps, or the place tables that were kept of them. */
import type * as api from "../index.js";
import { invalidArgument } from "./errors.js";
import { COMPARISONS } from "./generated/options.js";
import { Heap } from "./heap.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";
import { checksOf, list } from "./option_facts.js";
import { invalidOption, type Mode, readOptions, typed, wholeNumber } from "./options.js";
import { placeTableHandle } from "./place_table.js";
import { controlled } from "./work.js";

const text = typed("string");
const GROWTH = checksOf(COMPARISONS.growth.options);
const CHECK = checksOf(COMPARISONS.check.options, {
  maxGrowth,
  max: maxObjects,
  noGrowth: list("class names", text),
  accepted: list("accepted places", acceptedPlace),
});

export const growth: typeof api.growth = (heaps, options) => {
  const request = optionsFor(GROWTH, options, "sync");
  const tables = tablesOf(heaps).map(tableOf);
  return JSON.parse(callNative(() => native.growth(tables, request)).text);
};

export const growthAsync: typeof api.growthAsync = async (heaps, options) => {
  const request = optionsFor(GROWTH, options, "async");
  return await compared(heaps, options, (tables, control) =>
    native.growth(tables, request, undefined, control),
  );
};

export const check: typeof api.check = (heaps, options) => {
  const request = optionsFor(CHECK, options, "sync");
  const tables = tablesOf(heaps).map(tableOf);
  return JSON.parse(callNative(() => native.check(tables, request)).text);
};

export const checkAsync: typeof api.checkAsync = async (heaps, options) => {
  const request = optionsFor(CHECK, options, "async");
  return await compared(heaps, options, (tables, control) =>
    native.check(tables, request, undefined, control),
  );
};

async function compared(
  heaps: unknown,
  options: api.AsyncOptions | null | undefined,
  start: (
    tables: native.PlaceTableHandle[],
    control: native.WorkControl,
  ) => Promise<native.AnswerData>,
) {
  const given = tablesOf(heaps);
  const { onProgress } = options ?? {};
  const tables: native.PlaceTableHandle[] = [];
  for (const [nth, one] of given.entries()) {
    /** The heaps are counted one after the other; the comparison takes almost no time. */
    const watched = {
      ...options,
      onProgress: onProgress
        ? (progress: api.Progress) =>
            onProgress({ ...progress, fraction: (nth + progress.fraction) / given.length })
        : undefined,
    };
    const table =
      one instanceof Heap
        ? await one.placeTableAsync({ signal: watched.signal, onProgress: watched.onProgress })
        : one;
    tables.push(placeTableHandle(`heaps[${nth}]`, table));
  }
  const answer = await controlled({ signal: options?.signal }, (control) => start(tables, control));
  return JSON.parse(answer.text);
}

function tableOf(one: unknown, nth: number): native.PlaceTableHandle {
  return placeTableHandle(`heaps[${nth}]`, one instanceof Heap ? one.placeTable() : one);
}

function tablesOf(heaps: unknown): unknown[] {
  if (typeof heaps !== "object" || heaps === null || !(Symbol.iterator in heaps)) {
    throw invalidArgument("heaps", "an array of heaps or place tables", heaps);
  }
  return [...(heaps as Iterable<unknown>)];
}

function optionsFor(
  checks: Record<string, (name: string, value: unknown) => unknown>,
  options: unknown,
  mode: Mode,
): string {
  return JSON.stringify(readOptions(options, checks, mode));
}

/** Bytes as a number, or a percentage as in `5%`. */
function maxGrowth(name: string, value: unknown) {
  if (typeof value === "number") return { bytes: wholeNumber(0)(name, value) };
  const percent = typeof value === "string" ? /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1] : undefined;
  if (percent !== undefined) return { percent: Number(percent) };
  if (typeof value !== "string") throw invalidArgument(name, "bytes, or a percentage", value);
  throw invalidOption(`${name}: found ${value}; expected bytes, or a percentage as in "5%"`);
}

function maxObjects(name: string, value: unknown) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidArgument(name, "an object from class names to numbers", value);
  }
  const count = wholeNumber(0);
  const entries = Object.entries(value);
  return entries.map(([of, most]) => ({ class: of, count: count(`${name}["${of}"]`, most) }));
}

function acceptedPlace(name: string, value: unknown) {
  if (typeof value !== "object" || value === null) {
    throw invalidArgument(name, "an object with the path or the fingerprint of a place", value);
  }
  const given = value as Record<string, unknown>;
  const place = readOptions(
    { path: given.path, fingerprint: given.fingerprint, limit: given.limit },
    { path: text, fingerprint: text, limit: wholeNumber(0) },
    "sync",
  );
  if (place.path === undefined && place.fingerprint === undefined) {
    throw invalidOption(`${name}: found neither a path nor a fingerprint; expected one of them`);
  }
  return place;
}
