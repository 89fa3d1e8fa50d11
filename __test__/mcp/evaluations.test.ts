// Ten hunts over planted leaks, by a client that knows only the descriptions of the tools and the answers. The golden
// table says what each hunt costs: a change that makes hunting harder changes it.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import AscTransform from "../../dist/asc_transform.mjs";
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
  listener: /EventEmitter\._events|->heard/,
  timer: /->polled|TimersList|Timeout/,
};

/** Bytes and ids of a snapshot are other ones in each version of Node: its characters are rounded up. */
const ROUND_UP = { dump: 100, snapshot: 20_000 };

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
    transforms: [AscTransform],
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
function line(input: keyof typeof ROUND_UP, kind: string, { calls, characters, rank }: Hunt) {
  const step = ROUND_UP[input];
  const most = Math.ceil(characters / step) * step;
  return `${input.padEnd(9)} ${kind.padEnd(9)} ${String(calls).padStart(5)} ${String(most).padStart(11)} ${String(rank ?? "none").padStart(5)}`;
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
  const lines = ["input     leak      calls  characters  rank"];
  const inputs = { dump: DUMPS, snapshot: SNAPSHOTS };
  for (const input of ["dump", "snapshot"] as const) {
    for (const [kind, planted] of Object.entries(inputs[input])) {
      const session = await connect(["--root", join(folder, input, kind)]);
      try {
        const found = await hunt(session, planted);
        lines.push(line(input, kind, found));
        expect(found.rank, `the leak ${kind} of a ${input}`).toBeDefined();
      } finally {
        await session.close();
      }
    }
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/mcp-evaluations.txt");
});
