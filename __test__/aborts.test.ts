// An abort at a random moment of every call of the API that takes a signal, and SIGINT at a random moment of every command.
// The bound is generous, because machines of tests are busy: `npm run bench -- aborts` measures.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { apiCalls, type Call, commands, type Inputs } from "../benches/driver/abort_calls.ts";
import { writeSnapshot } from "../benches/driver/snapshot.ts";
import * as analyzer from "../dist/index.js";
import { randomFrom } from "./random/stream.ts";
import { leakyServer } from "./support/leaky_server.ts";

/** Milliseconds in which every abort is answered. */
const SOON = 5000;
/** Aborts of each call. */
const TIMES = 12;

const folder = mkdtempSync(join(tmpdir(), "aborts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const { before, after, wasm } = await leakyServer();
const dumps: Inputs = { before, after, wasm };
const snapshots: Inputs = {
  before: join(folder, "before.heapsnapshot"),
  after: join(folder, "after.heapsnapshot"),
  wasm: undefined,
};
writeSnapshot(30_000, snapshots.before);
writeSnapshot(40_000, snapshots.after);

/** Starts a call, aborts it at once or after some milliseconds, and returns how it ended and how long that took. */
async function abortedAt(call: Call, moment: number | undefined) {
  const heaps = await call.open();
  const controller = new AbortController();
  const work = call.start(controller.signal, heaps).then(
    () => "done",
    ({ name, code }: { name: string; code: string }) => (name === "AbortError" ? name : code),
  );
  if (moment !== undefined) await sleep(moment);
  const asked = performance.now();
  controller.abort();
  const end = await work;
  const latency = performance.now() - asked;
  for (const heap of heaps) heap.close();
  return { end, latency };
}

describe.each([
  ["dumps", dumps],
  ["heap snapshots", snapshots],
] as const)("an abort of work on %s", (_, inputs) => {
  const calls = apiCalls(analyzer as never, inputs, readFileSync);

  test.each(calls.map((call) => [call.name, call] as const))(
    "of %s at any moment ends it soon, and the next call works",
    async (name, call) => {
      const random = randomFrom(name.length);
      const heaps = await call.open();
      const begin = performance.now();
      await call.start(new AbortController().signal, heaps);
      const whole = Math.ceil(performance.now() - begin);
      for (const heap of heaps) heap.close();
      const ends = [];
      // The first one is aborted before any work is done.
      for (let nth = 0; nth < TIMES; nth++) {
        ends.push(await abortedAt(call, nth === 0 ? undefined : random(whole + 1)));
      }
      expect(ends.filter(({ latency }) => latency > SOON)).toEqual([]);
      expect(ends[0]?.end).toBe("AbortError");
      const others = ends.filter(({ end }) => end !== "AbortError" && end !== "done");
      expect(others).toEqual([]);
      const again = await call.open();
      await call.start(new AbortController().signal, again);
      for (const heap of again) heap.close();
    },
  );
});

describe.skipIf(process.platform === "win32")("SIGINT", () => {
  const cli = join(__dirname, "../dist/heap_analyzer/cli.js");

  test.each(
    commands(dumps, folder).map(
      (args) => [args.filter((arg) => !arg.includes("/")).join(" "), args] as const,
    ),
  )("at any moment of %s ends it soon", async (name, args) => {
    const random = randomFrom(name.length);
    for (let nth = 0; nth < 4; nth++) {
      const child = spawn(process.execPath, [cli, ...args], { stdio: "ignore" });
      const end = once(child, "exit");
      await sleep(random(250));
      const asked = performance.now();
      child.kill("SIGINT");
      const [code, signal] = await end;
      expect(performance.now() - asked).toBeLessThan(SOON);
      // 2 is the answer of check.
      expect(signal === "SIGINT" || code === 0 || code === 2, `${code} ${signal}`).toBe(true);
    }
  });
});
