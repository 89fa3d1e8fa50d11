// Ten hunts over planted leaks, by a client that knows only the descriptions of the tools and the answers. The golden
// table says what each hunt costs: a change that makes hunting harder changes it.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exposeGlobals, writeDump } from "../../dist/capture.js";
import { runCompiler } from "../support/compile.ts";
import { connect } from "./client.ts";
import { type Hunt, hunt } from "./hunts/hunter.ts";

/** What finds a leak names: the place that holds more and more. */
const DUMPS: Record<string, RegExp> = {
  array: /global hunts\/history/,
  map: /hunts\/Registry\.sessions/,
  set: /hunts\/Registry\.seen/,
  list: /global hunts\/newest/,
  text: /global hunts\/log/,
};
const SNAPSHOTS: Record<string, RegExp> = {
  array: /->history/,
  map: /->sessions/,
  closure: /->counted/,
  // In some runs a handle scope of V8 also holds the object of all listeners, and the path begins there.
  listener: /EventEmitter\._events|Object\.message|->heard/,
  timer: /->polled|TimersList|Timeout/,
};

/** Calls, characters and rank of a hunt in snapshots, whose ids and small objects are other ones in each run. */
const MOST_OF_SNAPSHOTS = { calls: 8, characters: 40_000, rank: 3 };
/** Characters of a hunt in dumps are rounded up to a multiple of this. */
const ROUND_UP = 100;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcp-evaluations-"));
  await makeDumps(join(folder, "dump"));
  mkdirSync(join(folder, "snapshot"));
  const program = join(import.meta.dirname, "../snapshots/hunts.cjs");
  execFileSync(process.execPath, [program, join(folder, "snapshot")]);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function makeDumps(path: string) {
  const { wasm } = await runCompiler(["hunts.ts", "--debug", "--exportRuntime"], {
    baseDir: join(import.meta.dirname, "../programs"),
    transform: true,
  });
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  for (const kind of [...Object.keys(DUMPS), "nothing"]) {
    const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
    const program = exports as Record<string, (count?: number) => void>;
    mkdirSync(join(path, kind), { recursive: true });
    writeFileSync(join(path, kind, "hunts.wasm"), wasm);
    for (const [nth, name] of ["before", "after"].entries()) {
      for (let round = 0; round < 200; round++) program[kind]?.();
      program.work?.(40);
      program.__collect?.();
      const file = join(path, kind, `${name}.dump`);
      writeDump(exports, file);
      utimesSync(file, nth, nth);
    }
  }
}

/** One line of the table. */
function line(kind: string, { calls, characters, rank }: Hunt) {
  const most = Math.ceil(characters / ROUND_UP) * ROUND_UP;
  return `${kind.padEnd(9)} ${String(calls).padStart(5)} ${String(most).padStart(11)} ${String(rank ?? "none").padStart(5)}`;
}

test("a hunt without a leak finds none of them", async () => {
  const session = await connect(["--root", join(folder, "dump/nothing")]);
  const all = new RegExp(
    Object.values(DUMPS)
      .map(({ source }) => source)
      .join("|"),
  );
  expect((await hunt(session, all)).rank).toBeUndefined();
  await session.close();
});

test("ten hunts find their leaks, in as many calls and characters as before", async () => {
  const lines = ["leak      calls  characters  rank"];
  const inputs = { dump: DUMPS, snapshot: SNAPSHOTS };
  for (const input of ["dump", "snapshot"] as const) {
    for (const [kind, planted] of Object.entries(inputs[input])) {
      const session = await connect(["--root", join(folder, input, kind)]);
      try {
        const found = await hunt(session, planted);
        const what = `the leak ${kind} of a ${input}`;
        expect(found.rank, what).toBeDefined();
        if (input === "dump") {
          lines.push(line(kind, found));
        } else {
          expect(found.calls, what).toBeLessThanOrEqual(MOST_OF_SNAPSHOTS.calls);
          expect(found.characters, what).toBeLessThanOrEqual(MOST_OF_SNAPSHOTS.characters);
          expect(found.rank, what).toBeLessThanOrEqual(MOST_OF_SNAPSHOTS.rank);
        }
      } finally {
        await session.close();
      }
    }
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/mcp-evaluations.txt");
});
