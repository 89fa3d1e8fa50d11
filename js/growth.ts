/** `growth` and `check` of the public API: several heaps, or the place tables that were kept of them. */
import type * as api from "../index.js";
import { invalidArgument } from "./errors.js";
import { COMPARISONS } from "./generated/options.js";
import { Heap } from "./heap.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";
import { type Check, checksOf, invalidOption, list, typed, wholeNumber } from "./option_facts.js";
import { readOptions } from "./options.js";
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

/** A comparison of tables by the engine. */
type Ask = typeof native.growth;

export const growth = now(native.growth, GROWTH) as typeof api.growth;
export const growthAsync = later(native.growth, GROWTH) as typeof api.growthAsync;
export const check = now(native.check, CHECK) as typeof api.check;
export const checkAsync = later(native.check, CHECK) as typeof api.checkAsync;

function now(ask: Ask, checks: Record<string, Check>) {
  return (heaps: unknown, options?: unknown) => {
    const request = JSON.stringify(readOptions(options, checks, "sync"));
    const tables = tablesOf(heaps).map(tableOf);
    return JSON.parse(callNative(() => ask(tables, request)).text);
  };
}

/** The same off the event loop. */
function later(ask: Ask, checks: Record<string, Check>) {
  return async (heaps: unknown, options?: api.AsyncOptions | null) => {
    const request = JSON.stringify(readOptions(options, checks, "async"));
    return await compared(heaps, options, (tables, control) =>
      ask(tables, request, undefined, control),
    );
  };
}

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
