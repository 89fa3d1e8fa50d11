/**
 * Random liars. Each is the inspector of a program that does not exist, tells the truth most of the time, and lies at
 * random. There is no socket and no clock: messages are handed over, and timers are those of the test.
 */
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { KnownModules } from "../dist/attach/known_modules.js";
import * as attaching from "../dist/attach.js";
import { Connection } from "../dist/inspector/connection.js";
import {
  answerTo,
  type Called,
  type Lies,
  NO_ANSWER,
  writeHonestly,
} from "./support/lying_inspector.ts";

/** `npm run test:full -- liars` has 2,000. */
const LIARS = Number(process.env.TEST_LIARS ?? 250);
/** It is no part of the package's types. */
const { attachOver } = attaching as unknown as {
  attachOver(
    connection: Connection,
    known: KnownModules,
    restore: () => Promise<void>,
  ): Promise<attaching.Attached>;
};
/** In milliseconds, for each of attaching and taking the dump. */
const PATIENCE = { silence: 1000, whole: 20_000, deadlineFor: "each work" } as const;
/** Of the test's timers. */
const STEP = 250;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "inspector-liars-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});
afterEach(() => void vi.useRealTimers());

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const JUNK: (() => unknown)[] = [
  () => null,
  () => undefined,
  () => true,
  () => -1,
  () => 0,
  () => 0.5,
  () => 1e308,
  () => 2 ** 32,
  () => "",
  () => "x".repeat(10_000),
  () => "\u{1b}[2J\n\u{202e}",
  () => "__proto__",
  () => [],
  () => [null, 1, "x"],
  () => new Array(3000).fill({}),
  () => ({}),
  () => ({ toString: 1, valueOf: 2 }),
  () => ({ objectId: "x", value: { scriptId: 7 } }),
  () => JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`),
  () => JSON.parse('{"__proto__":{"result":{"objectId":"x"}}}'),
];

class Liar {
  readonly #next: () => number;
  /** How often it lies. */
  readonly #rate: number;
  readonly outputs: { host: boolean; frames: boolean; numbers: boolean; isPage: boolean };

  constructor(seed: number) {
    this.#next = random(seed);
    this.#rate = this.#one([0, 0.01, 0.03, 0.1, 0.5]);
    const [host, frames, numbers, isPage] = [0, 1, 2, 3].map(() => this.#next() < 0.3);
    this.outputs = { host: host || numbers, frames, numbers, isPage } as Liar["outputs"];
  }

  #one<T>(all: readonly T[]): T {
    return all[Math.floor(this.#next() * all.length)] as T;
  }

  /** Attaches to this liar, and takes a dump. */
  async isAttachedTo(inside: string): Promise<void> {
    let hasEnded = false;
    const hear = (text: string) => {
      if (!hasEnded) connection.hearing.message(Buffer.from(text));
    };
    const say = (message: unknown) => hear(JSON.stringify(message) ?? "");
    const answers = (call: Called, tell: (message: unknown) => void) => {
      const event = (method: string, params: unknown) => this.#lie({ method, params }, tell, hear);
      const answer = answerTo(call, this.#lies(), { event, raw: hear });
      if (answer === undefined) return;
      this.#lie(answer, tell, hear);
    };
    const transport = {
      send: (text: string) => {
        const call = JSON.parse(text) as Called;
        if (this.#isTime(0.02)) return connection.hearing.ended("was closed by the liar");
        // Messages of threads travel inside those of the main thread.
        if (call.method === "NodeWorker.sendMessageToWorker") {
          const { sessionId, message } = call.params;
          say({ id: call.id, result: {} });
          return answers(JSON.parse(message), (inner) => {
            const params = { sessionId, message: JSON.stringify(inner) ?? "" };
            say({ method: "NodeWorker.receivedMessageFromWorker", params });
          });
        }
        if (call.method === "NodeWorker.enable" && this.#next() < 0.2) {
          const params = { sessionId: "s", workerInfo: { title: "worker" } };
          this.#lie({ method: "NodeWorker.attachedToWorker", params }, say, hear);
        }
        answers(call, say);
      },
      end: async () => {
        hasEnded = true;
      },
    };
    const connection = new Connection(transport, PATIENCE);
    const target = await attachOver(connection, new KnownModules(), async () => {});
    const path = (name: string, isWanted: boolean) => (isWanted ? join(inside, name) : undefined);
    const { host, frames, numbers } = this.outputs;
    try {
      await target.writeDump(join(inside, "x.dump"), {
        hostOutput: path("x.heapsnapshot", host),
        numbersOutput: path("x.numbers.json", numbers),
        closures: numbers,
        framesOutput: path("x.frames.json", frames),
      });
    } finally {
      await target.close();
    }
  }

  #isTime(share: number): boolean {
    return this.#next() < this.#rate * share;
  }

  #lies(): Lies {
    return {
      isPage: this.outputs.isPage,
      answer: () => (this.#isTime(0.3) ? NO_ANSWER : undefined),
      write: (path, offset) => this.#write(path, offset),
    };
  }

  #write(path: string, offset: number): unknown {
    const answer = writeHonestly(path, offset);
    if (this.#next() >= this.#rate) return answer;
    this.#one([
      () => appendFileSync(path, "more"),
      () => writeFileSync(path, "less"),
      () => rmSync(path),
      () => rmSync(join(path, ".."), { recursive: true }),
      () => {
        rmSync(path);
        symlinkSync("/dev/zero", path);
      },
      () => {
        rmSync(path);
        mkdirSync(path);
      },
    ])();
    return answer;
  }

  /** Says a message, or something else, now or later. */
  #lie(message: unknown, say: (message: unknown) => void, hear: (text: string) => void): void {
    const later = (time: number, work: () => void) => void setTimeout(work, time);
    const text = JSON.stringify(message);
    const number = this.#next();
    if (number >= this.#rate) {
      say(message);
      return;
    }
    this.#one([
      () => say(this.#changed(message)),
      () => say(this.#changed(message)),
      () => say(this.#changed(message)),
      () => say(this.#changed(this.#changed(message))),
      () => {
        say(message);
        say(message);
      },
      () => later(this.#one([1, 900, 6000, 60_000]), () => say(message)),
      () => hear(text.slice(0, text.length * this.#next())),
      () => hear(this.#one(["", "null", "[]", "{", "7", `${"[".repeat(1000)}`])),
      () => say({ id: (message as Called).id, error: this.#one(JUNK)() }),
      () => say({ id: (message as Called).id, error: { message: this.#one(JUNK)() } }),
      () => {
        // Events without an end, which nobody asked for.
        const event = { method: "Runtime.executionContextCreated", params: this.#one(JUNK)() };
        for (let nth = 1; nth < 200; nth++) later(nth * 300, () => say(event));
        say(message);
      },
    ])();
  }

  /** A copy of a value with one part that is something else, or missing. */
  #changed(value: unknown): unknown {
    const copy = JSON.parse(JSON.stringify(value ?? null));
    const places: [Record<string, unknown>, string][] = [];
    const walk = (part: unknown) => {
      for (const [key, inner] of Object.entries(Object(part) as Record<string, unknown>)) {
        if (typeof part === "string" || places.length > 500) return;
        places.push([part as Record<string, unknown>, key]);
        walk(inner);
      }
    };
    walk(copy);
    const [owner, key] = this.#one(places) ?? [{}, ""];
    owner[key] = this.#one(JUNK)();
    return copy;
  }
}

/** Whether the system still writes to a file. */
const isBusy = () => process.getActiveResourcesInfo().includes("FSReqCallback");

/** Waits for some work, and lets the test's time pass. Returns how much did. */
async function passing(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  let time = 0;
  // Longer than any work may take, so that this ends.
  while (!isOver && time < 10 * PATIENCE.whole) {
    await setImmediate();
    if (isOver || isBusy()) continue;
    await vi.advanceTimersByTimeAsync(STEP);
    time += STEP;
  }
  expect(isOver).toBe(true);
  return time;
}

test("whatever an inspector answers, attach ends in time, with a dump or an error with a code, and no other file", async () => {
  const ends = new Map<string, number>();
  for (let seed = 1; seed <= LIARS; seed++) {
    const liar = new Liar(seed);
    const inside = mkdtempSync(join(folder, "out-"));
    const work = liar.isAttachedTo(inside).then(
      () => "dump",
      (error) => String(error.code),
    );
    const time = await passing(work);
    const end = await work;
    expect(time, `seed ${seed}`).toBeLessThanOrEqual(2 * PATIENCE.whole + 10 * STEP);
    expect(end, `seed ${seed}`).toMatch(
      /^(dump|ERR_(ATTACH|MEMORY|DUMP|GLOBAL|INVALID|INSTANCE|WASM|MODULE)\w*)$/,
    );
    const files = readdirSync(inside).sort();
    if (end === "dump") {
      const { host, frames, numbers } = liar.outputs;
      const names = [frames && "frames.json", host && "heapsnapshot", numbers && "numbers.json"];
      const expected = ["dump", ...names.filter((name) => name !== false)].map(
        (name) => `x.${name}`,
      );
      expect(files, `seed ${seed}`).toEqual(expected.sort());
      for (const name of files) {
        const { mode, nlink } = lstatSync(join(inside, name));
        expect([mode & 0o777, nlink], `seed ${seed}`).toEqual([
          process.platform === "win32" ? mode & 0o777 : 0o600,
          1,
        ]);
      }
    } else {
      expect(files, `seed ${seed}`).toEqual([]);
    }
    ends.set(end, (ends.get(end) ?? 0) + 1);
    rmSync(inside, { recursive: true, force: true });
  }
  // The liars get as far as a dump, and are found out in each way.
  for (const end of ["dump", "ERR_ATTACH_ANSWER", "ERR_ATTACH_TIMEOUT"]) {
    expect(ends.get(end), end).toBeGreaterThan(LIARS / 100);
  }
});
