/**
 * Judges `growth` on a program that leaks as it is asked to, beside steady parts: every leak must be named
 * with its root, its class and its rate, and nothing else.
 */

import { growth, type Heap, openHeap, type PlaceTable } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";

import type { GrowingPlace, GrowthAnswer } from "../../index.js";
import { compile, OPTIMISED, RANDOM_PROGRAMS, UNOPTIMISED } from "../support/compile.ts";
import { type Random, randomFrom } from "./stream.ts";

/** The leaks of the program, in the order of its `Leak`. */
export const LEAKS = [
  "listeners",
  "sessions",
  "chain",
  "pins",
  "tokens",
  "closures",
  "text",
  "views",
  "raw",
  "samples",
  "seen",
  "histories",
  "registry",
  "connections",
  "jobs",
  "alternating",
  "tree",
  "table",
] as const;
export type LeakName = (typeof LEAKS)[number];

/** How many kinds of noise the program has. */
const NOISES = 14;
/** The kind that makes raw blocks. These are one place, which cannot be told from what leaks of them. */
const RAW_NOISE = 8;
/** The kind that bounds the cache of what leaks in the registry. */
export const CACHE_NOISE = 13;
export const ROUNDS = 20;
export const WARMUP = 2;

/** What must be said of a leak. */
interface Expected {
  /** Null: without a root. */
  root: string | null;
  className: string;
  label: string | null;
  /** A part of the path, or of the label without one. */
  via: string;
  /** What one leaked unit adds: objects, and bytes if they are all that grows. */
  count: number;
  bytes?: number;
}

const EXPECTED: Record<Exclude<LeakName, "histories">, Expected> = {
  listeners: {
    root: "global leaks/feed",
    className: "leaks/Listener",
    label: "[*]",
    via: "leaks/Feed.listeners",
    count: 1,
  },
  sessions: {
    root: "global leaks/sessions",
    className: "leaks/Session",
    label: "[*]",
    via: "~lib/map/Map<~lib/string/String,leaks/Session>[*]",
    count: 1,
  },
  chain: {
    root: "global leaks/Journal.head",
    className: "leaks/Entry",
    label: null,
    via: "leaks/Entry",
    count: 1,
  },
  pins: { root: "pinned", className: "leaks/Upload", label: null, via: "pinned", count: 1 },
  tokens: {
    root: "global leaks/tokens",
    className: "~lib/string/String",
    label: "member [*]",
    via: "~lib/set/Set<~lib/string/String> member [*]",
    count: 1,
  },
  closures: {
    root: "global leaks/handlers",
    className: "~lib/function/Function",
    label: "[*]",
    via: "[*]",
    count: 1,
  },
  text: {
    root: "global leaks/text",
    className: "~lib/string/String",
    label: null,
    via: "leaks/text",
    count: 0,
    bytes: 2,
  },
  views: {
    root: "global leaks/views",
    className: "~lib/typedarray/Uint8Array",
    label: "[*]",
    via: "[*]",
    count: 1,
  },
  raw: { root: null, className: "(raw blocks)", label: null, via: "", count: 1 },
  samples: {
    root: "global leaks/samples",
    className: "~lib/array/Array<i32>",
    label: null,
    via: "leaks/samples",
    count: 0,
    bytes: 4,
  },
  seen: {
    root: "global leaks/seen",
    className: "~lib/map/Map<i32,i32>",
    label: null,
    via: "leaks/seen",
    count: 0,
    bytes: 8,
  },
  registry: {
    root: "global leaks/registry",
    className: "leaks/Item",
    label: "[*]",
    via: "[*]",
    count: 1,
  },
  connections: {
    root: "global leaks/pool",
    className: "leaks/Connection",
    label: null,
    via: "leaks/Pool.first",
    count: 1,
  },
  jobs: {
    root: "global leaks/workshop",
    className: "leaks/Job",
    label: "[*]",
    via: "leaks/Workshop.jobs",
    count: 1,
  },
  alternating: {
    root: "global leaks/even",
    className: "leaks/Odd",
    label: null,
    via: "leaks/Even.next",
    count: 1,
  },
  tree: {
    root: "global leaks/branches",
    className: "leaks/Branch",
    label: null,
    via: "leaks/Branch",
    count: 1,
  },
  table: {
    root: "global leaks/slots",
    className: "leaks/Slot",
    label: null,
    via: "[*]",
    count: 1,
  },
};

/** What a program leaked and what is said of it. */
export interface GrowthRun {
  answer: GrowthAnswer;
  /** Units between the first dump that counts and the last. */
  leaked: Map<LeakName, number>;
  /** Places whose objects `find` does not list. */
  unlike: string[];
}

export interface GrowthPlan {
  seed: number;
  optimised: boolean;
  leaks: { name: LeakName; most: number }[];
  /** How large each steady part is, 0 for one that does nothing. */
  noise: number[];
}

/** What a seed stands for. Every sixth program is steady. */
export function planGrowth(seed: number): GrowthPlan {
  const random = randomFrom(seed);
  const count = seed % 6 === 0 ? 0 : 1 + random(4);
  const chosen = new Set<LeakName>();
  while (chosen.size < count) chosen.add(LEAKS[random(LEAKS.length)] as LeakName);
  const noise = Array.from({ length: NOISES }, () => (random(5) === 0 ? 0 : 4 + random(60)));
  // A cache that is still filling grows like a leak.
  noise[CACHE_NOISE] = 4;
  return {
    seed,
    optimised: seed % 2 === 1,
    leaks: [...chosen].map((name) => ({ name, most: 1 + random(20) })),
    noise,
  };
}

interface LeaksExports extends WebAssembly.Exports {
  setup(): void;
  leak(kind: number, amount: number): void;
  noise(kind: number, amount: number, other: number): void;
  __collect(): void;
}

/** An instance of the program, with its module. */
export async function startLeaks(
  optimised: boolean,
): Promise<{ exports: LeaksExports; wasm: Uint8Array }> {
  const flags = [...(optimised ? OPTIMISED : UNOPTIMISED), "--exportRuntime"];
  const { wasm } = await compile("leaks", flags, { folder: RANDOM_PROGRAMS });
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const env = {
    abort: () => {
      throw new Error("the program aborted");
    },
  };
  const { exports } = (await WebAssembly.instantiate(module, { env })) as {
    exports: LeaksExports;
  };
  exports.setup();
  return { exports, wasm };
}

/** What the program holds now. */
export function takeTable({ exports, wasm }: Awaited<ReturnType<typeof startLeaks>>): PlaceTable {
  exports.__collect();
  using heap = openHeap(captureDump(exports), wasm);
  return heap.placeTable();
}

/** Runs the program of a plan, and gives back what `growth` says with what it leaked. */
export async function runGrowth(plan: GrowthPlan): Promise<GrowthRun> {
  const program = await startLeaks(plan.optimised);
  const random = randomFrom(plan.seed + 1_000_000);
  const tables: PlaceTable[] = [];
  const leaked = new Map<LeakName, number>();
  for (let round = 0; round < WARMUP + ROUNDS; round++) {
    playRound(program.exports, plan, random, (name, amount) => {
      if (round > WARMUP) leaked.set(name, (leaked.get(name) ?? 0) + amount);
    });
    tables.push(takeTable(program));
  }
  const answer = growth(tables, { warmup: WARMUP });
  using last = openHeap(captureDump(program.exports), program.wasm);
  return { answer, leaked, unlike: placesUnlikeObjects(last, answer.places) };
}

/** The places at which `find` has not as many objects of the class as `growth` counts in the last dump. */
export function placesUnlikeObjects(last: Heap, places: readonly GrowingPlace[]): string[] {
  const all = places.flatMap((place) => [
    { ...place, count: place.counts.at(-1) ?? 0 },
    ...place.folded,
  ]);
  // Raw blocks are no objects.
  return all.flatMap(({ fingerprint, className, count, path }) => {
    if (className.startsWith("(")) return [];
    const { total, groups } = last.find({ place: fingerprint, groupBy: "className" });
    const classes = groups?.rows.map(({ value }) => value) ?? [];
    // A function or a scope of JavaScript is named by its place in the source, not by its class.
    const isNamedByPlace = /^(function|scope) /.test(className);
    const isOfClass = isNamedByPlace || classes[0] === className;
    if (total === count && classes.length === 1 && isOfClass) return [];
    return `${path ?? className}: growth counts ${count}, find has ${total} of ${classes.join(", ")}`;
  });
}

function playRound(
  exports: LeaksExports,
  { leaks, noise }: GrowthPlan,
  random: Random,
  onLeak: (name: LeakName, amount: number) => void,
): void {
  for (const { name, most } of leaks) {
    const amount = 1 + random(most);
    exports.leak(LEAKS.indexOf(name), amount);
    onLeak(name, amount);
  }
  const leaksRaw = leaks.some(({ name }) => name === "raw");
  for (const [kind, size] of noise.entries())
    if (size > 0 && !(leaksRaw && kind === RAW_NOISE))
      exports.noise(kind, Math.ceil(size / 2) + random(size), 1 + random(40));
}

/** What is wrong about an answer; undefined if nothing is. */
export function judgeGrowth(
  { leaks }: GrowthPlan,
  { answer, leaked, unlike }: GrowthRun,
): string | undefined {
  if (unlike.length > 0) return unlike.join("\n");
  const found = [...answer.places];
  for (const { name } of leaks) {
    if (name === "histories") {
      // The users move. By chance, those in one place grow in every interval, and have a path then.
      const others = found.filter((place) => !isHistory(place));
      if (others.length === found.length) return `${name} is not named${listed(answer.places)}`;
      found.splice(0, found.length, ...others);
      continue;
    }
    const expected = EXPECTED[name];
    const at = found.findIndex((place) => isFor(place, expected));
    const place = found[at];
    if (place === undefined) return `${name} is not named${listed(answer.places)}`;
    found.splice(at, 1);
    const units = (leaked.get(name) ?? 0) / (ROUNDS - 1);
    const { count, bytes } = place.perInterval;
    if (!isClose(count, units * expected.count))
      return `${name}: ${count} objects per interval, not ${units * expected.count}`;
    if (expected.bytes !== undefined && !isClose(bytes, units * expected.bytes))
      return `${name}: ${bytes} bytes per interval, not ${units * expected.bytes}`;
  }
  if (found.length > 0) return `what does not leak is named${listed(found)}`;
  const errors = answer.warnings.map(({ message }) => message);
  return errors.length > 0 ? errors.join("; ") : undefined;
}

function isFor(place: GrowingPlace, { root, className, label, via }: Expected): boolean {
  const name = place.root && [place.root.kind, place.root.name ?? []].flat().join(" ");
  return (
    name === root &&
    place.className.startsWith(className) &&
    place.label === label &&
    `${place.path ?? place.label ?? ""}`.includes(via)
  );
}

function isHistory({ path, label, className }: GrowingPlace): boolean {
  const isBelow = (path ?? label ?? "").includes("leaks/User.history");
  return isBelow || className === "leaks/Visit";
}

function isClose(found: number, expected: number): boolean {
  return Math.abs(found - expected) < 0.001;
}

function listed(places: GrowingPlace[]): string {
  const lines = places.map(
    ({ path, label, className, counts, bytes }) =>
      `\n  ${path ?? `${label} > ${className}`}\n    ${counts.join(" ")}\n    ${bytes.join(" ")}`,
  );
  return lines.length === 0 ? "; nothing is" : `:${lines.join("")}`;
}

/** Judges as many programs as asked; gives back how many answers are wrong. */
export async function judgeGrowths(count: number, seed: number): Promise<number> {
  const wrong: string[] = [];
  const leaks = new Map<LeakName, number>();
  let steady = 0;
  for (let at = seed; at < seed + count; at++) {
    const plan = planGrowth(at);
    const failure = judgeGrowth(plan, await runGrowth(plan));
    for (const { name } of plan.leaks) leaks.set(name, (leaks.get(name) ?? 0) + 1);
    if (plan.leaks.length === 0) steady++;
    if (failure !== undefined) wrong.push(`growth of seed ${at}: ${failure}\n`);
    if (process.stderr.isTTY)
      process.stderr.write(`\r\x1b[K${at - seed + 1} of ${count} programs judged for growth`);
  }
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  for (const failure of wrong) console.log(failure);
  const ofLeaks = LEAKS.map((name) => `${name} ${leaks.get(name) ?? 0}`);
  console.log(
    `growth of ${count} programs with ${ROUNDS} dumps each judged, ${wrong.length} answers wrong: ` +
      `${steady} programs without a leak, leaks ${ofLeaks.join(", ")}`,
  );
  return wrong.length;
}
