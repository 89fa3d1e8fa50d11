/**
 * Judges `expectNoLeak` and `check` with their defaults on programs of bounded parts, some of which leak: no steady
 * program may fail, and every leak must be found.
 *
 * A part is bounded if it is full before the last round: from the dumps, one that fills in the last round cannot be
 * told from a leak.
 */

import { check, openHeap } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { expectNoLeak, LeakError } from "@warpo/heap-analyzer/testing";
import type { CheckAnswer, PlaceTable } from "../../index.js";
import { compile, OPTIMISED, RANDOM_PROGRAMS, UNOPTIMISED } from "../support/compile.ts";
import { randomFrom } from "./stream.ts";

/** The bounded parts of the program, in the order of its `Bounded`. */
const PARTS = [
  "ring",
  "pages",
  "histories",
  "counters",
  "keys",
  "log",
  "samples",
  "tasks",
  "words",
  "buckets",
  "messages",
  "transient",
] as const;

/** By leak, in the order of the program's `Leak`: a part of the path to what it adds. */
const LEAKS = {
  listed: "global bounded/listed ",
  mapped: "global bounded/mapped ",
  tokens: "global bounded/tokens ",
  chain: "global bounded/chain ",
  pins: "pinned ",
  views: "global bounded/views ",
  history: "bounded/User.history",
  accounts: "bounded/Account.log",
  numbered: "global bounded/numbered ",
  rows: "global bounded/rows ",
} as const;
type LeakName = keyof typeof LEAKS;
const LEAK_NAMES = Object.keys(LEAKS) as LeakName[];

/** The rounds of `expectNoLeak` by default, warm-up included. */
const ROUNDS = 10;
const WARMUP = 2;
/** The rounds after which a leak of equal amounts is told from a cache that fills at the same place. */
const STEADY_ROUNDS = 4;

export interface SteadyPlan {
  seed: number;
  optimised: boolean;
  /** What each part adds in a round, and what it keeps at most. */
  parts: { kind: number; amount: number; most: number }[];
  leak: { name: LeakName; least: number; most: number } | undefined;
}

/** What a seed stands for. */
export function planSteady(seed: number, leaks: boolean): SteadyPlan {
  const random = randomFrom(seed);
  const parts = [];
  for (const kind of PARTS.keys()) {
    if (random(2) === 0) continue;
    const amount = 5 + random(80);
    const full = 1 + random(ROUNDS - 1);
    parts.push({ kind, amount, most: amount * (full - 1) + 1 + random(amount) });
  }
  const least = 1 + random(12);
  const name = LEAK_NAMES[random(LEAK_NAMES.length)] as LeakName;
  const leak = leaks ? { name, least, most: least + random(3) * random(12) } : undefined;
  for (const part of parts) {
    // At the same place as this leak. While it fills, less and less is added there, as where nothing leaks.
    if (leak?.name !== "history" || PARTS[part.kind] !== "histories") continue;
    const rounds = leak.least === leak.most ? ROUNDS - STEADY_ROUNDS : WARMUP;
    part.most = Math.min(part.most, part.amount * rounds);
  }
  return { seed, optimised: seed % 2 === 1, parts, leak };
}

interface BoundedExports extends WebAssembly.Exports {
  keep(kind: number, amount: number, most: number): void;
  leak(kind: number, amount: number): void;
  __collect(): void;
}

const modules = new Map<boolean, Promise<{ module: WebAssembly.Module; wasm: Uint8Array }>>();

async function compiled(optimised: boolean) {
  const flags = [...(optimised ? OPTIMISED : UNOPTIMISED), "--exportRuntime"];
  const { wasm } = await compile("bounded", flags, { folder: RANDOM_PROGRAMS });
  return { module: await WebAssembly.compile(exposeGlobals(wasm)), wasm };
}

export interface SteadyRun {
  /** Of `expectNoLeak`; undefined if it did not fail. */
  error: LeakError | undefined;
  /** Of `check` on dumps of the same rounds. */
  answer: CheckAnswer;
}

/** Runs the program of a plan. */
export async function runSteady(
  { seed, optimised, parts, leak }: SteadyPlan,
  { strict = false } = {},
): Promise<SteadyRun> {
  const made = modules.get(optimised) ?? compiled(optimised);
  modules.set(optimised, made);
  const { module, wasm } = await made;
  const abort = () => {
    throw new Error("the program aborted");
  };
  const instance = await WebAssembly.instantiate(module, { env: { abort } });
  const exports = instance.exports as BoundedExports;
  const random = randomFrom(seed + 1_000_000);
  const tables: PlaceTable[] = [];
  const run = () => {
    for (const { kind, amount, most } of parts) exports.keep(kind, amount, most);
    if (leak !== undefined) {
      const amount = leak.least + random(leak.most - leak.least + 1);
      exports.leak(LEAK_NAMES.indexOf(leak.name), amount);
    }
    exports.__collect();
    using heap = openHeap(captureDump(exports), wasm);
    tables.push(heap.placeTable());
  };
  const error = await expectNoLeak({ instance: exports, wasm, run, strict }).then(
    () => undefined,
    (error: unknown) => error as LeakError,
  );
  if (error !== undefined && !(error instanceof LeakError)) throw error;
  return { error, answer: check(tables, { warmup: WARMUP, strict }) };
}

/** What is wrong about what was said of a program; undefined if nothing is. */
export function judgeSteady(
  { leak }: SteadyPlan,
  { error, answer }: SteadyRun,
): string | undefined {
  const said = [
    ["expectNoLeak", error?.answer],
    ["check", answer.passed ? undefined : answer],
  ] as const;
  for (const [who, failed] of said) {
    if (leak === undefined && failed !== undefined)
      return `${who} fails a steady program${listed(failed)}`;
    const isNamed = failed?.places.some((place) =>
      `${place.path ?? ""} ${place.label ?? ""} ${place.root?.kind ?? ""} `.includes(
        LEAKS[leak?.name ?? "listed"],
      ),
    );
    if (leak !== undefined && !isNamed)
      return `${who} does not name the leak ${leak.name}${failed ? listed(failed) : ""}`;
  }
  return undefined;
}

function listed({ places }: CheckAnswer): string {
  const lines = places.map(
    ({ path, label, className, counts, bytes }) =>
      `\n  ${path ?? `${label} > ${className}`}\n    ${counts.join(" ")}\n    ${bytes.join(" ")}`,
  );
  return `:${lines.join("")}`;
}

/** Judges as many steady and leaking programs as asked; gives back how many verdicts are wrong. */
export async function judgeSteadies(
  counts: { steady: number; leaking: number },
  seed: number,
): Promise<number> {
  const wrong = { steady: [] as string[], leaking: [] as string[] };
  let noted = 0;
  const { warn } = console;
  console.warn = () => noted++;
  try {
    for (const kind of ["steady", "leaking"] as const) {
      for (let at = seed; at < seed + counts[kind]; at++) {
        const plan = planSteady(at, kind === "leaking");
        const failure = judgeSteady(plan, await runSteady(plan));
        if (failure !== undefined) wrong[kind].push(`${kind} program of seed ${at}: ${failure}\n`);
        if (process.stderr.isTTY)
          process.stderr.write(
            `\r\x1b[K${at - seed + 1} of ${counts[kind]} ${kind} programs judged`,
          );
      }
    }
  } finally {
    console.warn = warn;
  }
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  for (const failure of [...wrong.steady, ...wrong.leaking]) console.log(failure);
  console.log(
    `${counts.steady} steady programs judged, ${wrong.steady.length} false alarms; ` +
      `${counts.leaking} leaking programs judged, ${wrong.leaking.length} leaks not found; ` +
      `${noted} notes about what is undecided`,
  );
  return wrong.steady.length + wrong.leaking.length;
}
