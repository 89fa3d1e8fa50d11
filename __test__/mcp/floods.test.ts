// Clients that ask too much, on all three transports: the server keeps its memory, and answers what follows.

import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, linkSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type LeakyServer, leakyServer } from "../support/leaky_server.ts";
import {
  asks,
  cancels,
  MESSAGE_BYTES,
  type Message,
  MOST_WAITING,
  peakMemory,
  startWire,
  TRANSPORTS,
  type Wire,
} from "./wires.ts";

/** Requests of a flood. Fewer fit into the buffers of the system, so that HTTP refuses none. */
const MANY = Number(process.env.TEST_FLOOD ?? 60_000);
const PAIRS = MANY / 4;
/**
 * MiB that a flood may add. The heap of V8 grows by itself before it is cleaned, by up to 60 MiB. A server that keeps
 * all answers to 60,000 requests takes more than 300 MiB.
 */
const MORE_MEMORY = 150;
/** Bytes of a message that is much too long. */
const LONG = 2 ** 29;

/** Spaces at the end of a heap snapshot: hashing them takes longer than everything else with the snapshot. */
const SPACES = 150 * 2 ** 20;

/** Questions that were asked to see that the server goes on. */
let asked = 0;
let server: LeakyServer;
/** A folder with many dumps, so that opening them takes a while. */
let folder: string;
const dumps = Array.from({ length: 20 }, (_, nth) => `${nth}.dump`);
/** Opening them takes longer than any other question, on a busy machine too. */
const slow = Array.from({ length: 6 }, (_, nth) => `slow-${nth}.heapsnapshot`);
const ends: (() => void)[] = [];

beforeAll(async () => {
  server = await leakyServer();
  folder = mkdtempSync(join(tmpdir(), "mcp-floods-"));
  copyFileSync(server.wasm, join(folder, "server.wasm"));
  for (const dump of dumps) copyFileSync(server.after, join(folder, dump));
  const small = join(folder, "small.heapsnapshot");
  execFileSync(process.execPath, [
    "-e",
    `require("node:v8").writeHeapSnapshot(${JSON.stringify(small)})`,
  ]);
  const large = join(folder, "large.heapsnapshot");
  copyFileSync(small, large);
  appendFileSync(large, Buffer.alloc(SPACES, " "));
  for (const name of slow) linkSync(large, join(folder, name));
  return () => rmSync(folder, { recursive: true });
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** How many requests have an answer, and how many were refused because too many wait. */
function counted(messages: Message[]): { answered: number; refused: number } {
  const answers = messages.filter(({ id }) => typeof id === "number");
  const refused = answers.filter(({ error }) => error?.code === -32000).length;
  return { answered: answers.length - refused, refused };
}

describe.each(TRANSPORTS)("over %s", (transport) => {
  async function start(...args: string[]): Promise<Wire> {
    const wire = await startWire(transport, ["--root", folder, ...args]);
    ends.push(() => wire.child.kill("SIGKILL"));
    await wire.send([asks(transport, "first", "list_dumps")]);
    await wire.answer("first");
    return wire;
  }

  /** The server answers a question again, when those that wait have their answers. */
  async function untilAnswer(wire: Wire): Promise<void> {
    for (;;) {
      const id = `next-${++asked}`;
      await wire.send([asks(transport, id, "list_dumps")]);
      const { error, result } = await wire.answer(id);
      if (result !== undefined) return;
      expect(error?.code).toBe(-32000);
    }
  }

  test.skipIf(process.platform !== "linux")(
    "a client that never reads is not served further, and costs little memory",
    async () => {
      const wire = await start();
      const before = peakMemory(wire.child);
      wire.stop();
      const texts = Array.from({ length: MANY }, (_, id) => asks(transport, id, "list_dumps"));
      await wire.send(texts, 2000);
      if (transport === "HTTP") {
        await expect.poll(() => wire.untaken(), { timeout: 60_000 }).toBeGreaterThan(0);
      }
      const after = peakMemory(wire.child);
      expect(after - before).toBeLessThan(MORE_MEMORY);
    },
  );

  test.skipIf(process.platform !== "linux")(
    "each of many requests is answered, or refused as too many",
    async () => {
      const wire = await start();
      const before = peakMemory(wire.child);
      const texts = Array.from({ length: MANY }, (_, id) => asks(transport, id, "list_dumps"));
      await wire.send(texts);
      await untilAnswer(wire);
      const after = peakMemory(wire.child);
      expect(after - before).toBeLessThan(MORE_MEMORY);
      const { answered, refused } = counted(wire.received);
      expect(answered + refused + wire.untaken()).toBe(MANY);
      expect(refused).toBeGreaterThan(0);
      expect(answered).toBeGreaterThanOrEqual(MOST_WAITING);
    },
  );

  test.skipIf(process.platform !== "linux")(
    "many pairs of a request and its cancellation cost little memory",
    async () => {
      const wire = await start();
      const before = peakMemory(wire.child);
      const texts = Array.from({ length: PAIRS }, (_, id) => [
        asks(transport, id, "open_heaps", { dumps }),
        cancels(transport, id),
      ]).flat();
      await wire.send(texts);
      await untilAnswer(wire);
      const after = peakMemory(wire.child);
      expect(after - before).toBeLessThan(MORE_MEMORY);
    },
  );

  test("128 requests wait and are answered, and one more is refused", async () => {
    for (const more of [0, 1]) {
      const wire = await start();
      const length = MOST_WAITING + more;
      await wire.send(
        Array.from({ length }, (_, id) => asks(transport, id, "open_heaps", { dumps })),
      );
      await Promise.all(Array.from({ length }, (_, id) => wire.answer(id)));
      expect(counted(wire.received)).toEqual({ answered: MOST_WAITING, refused: more });
    }
  });

  test("a message of 256 KiB is answered, and a longer one is refused without being kept", async () => {
    const wire = await start();
    const text = asks(transport, "long", "list_dumps");
    await wire.sendLong(text, MESSAGE_BYTES - text.length);
    expect((await wire.answer("long")).result).toBeDefined();
    const refused = () => wire.received.filter(({ error }) => error?.code === -32600).length;
    const before = process.platform === "linux" ? peakMemory(wire.child) : 0;
    for (const [nth, bytes] of [MESSAGE_BYTES + 1, LONG].entries()) {
      const id = `longer-${nth}`;
      const longer = asks(transport, id, "list_dumps");
      await wire.sendLong(longer, bytes - longer.length);
      await untilAnswer(wire);
      // Over HTTP, the answer is that of the POST.
      if (transport !== "HTTP") expect(refused()).toBe(nth + 1);
      expect(wire.received.map((message) => message.id)).not.toContain(id);
    }
    const after = process.platform === "linux" ? peakMemory(wire.child) : 0;
    expect(after - before).toBeLessThan(MORE_MEMORY);
  });

  test.skipIf(transport === "HTTP")(
    "a client that never reads and closes its output does not keep the process",
    async () => {
      const wire = await start();
      wire.stop();
      // Their answers are more than may wait to be read.
      const texts = Array.from({ length: 2000 }, (_, id) => asks(transport, id, "list_dumps"));
      await wire.send(texts, 2000);
      wire.leave();
      expect(await wire.exit).toBe(0);
    },
  );

  test("a slow question does not hold back others", async () => {
    const wire = await start("--memory", "100GiB");
    await wire.send([
      asks(transport, "slow", "open_heaps", { dumps: slow }),
      asks(transport, "fast", "list_dumps"),
    ]);
    await Promise.all([wire.answer("slow"), wire.answer("fast")]);
    const answers = wire.received.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(answers.indexOf("fast")).toBeLessThan(answers.indexOf("slow"));
  });

  test("a slow opening does not hold back others", async () => {
    const wire = await start("--memory", "100GiB");
    await wire.send([
      asks(transport, "slow", "open_heaps", { dumps: ["large.heapsnapshot"] }),
      asks(transport, "fast", "open_heaps", { dumps: ["small.heapsnapshot"] }),
    ]);
    const [slow, fast] = await Promise.all([wire.answer("slow"), wire.answer("fast")]);
    expect([slow.result, fast.result]).toEqual([expect.anything(), expect.anything()]);
    const answers = wire.received.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(answers.indexOf("fast")).toBeLessThan(answers.indexOf("slow"));
  });

  test("when the client goes away, its work ends", async () => {
    const exports = mkdtempSync(join(folder, "exports-"));
    const wire = await start("--export-folder", exports);
    await wire.send([asks(transport, "open", "open_heaps", { dumps: ["0.dump"] })]);
    const { result } = await wire.answer("open");
    const { heaps } = (result?.structuredContent ?? result) as { heaps: { heap: string }[] };
    const export_ = (nth: number) =>
      asks(transport, nth, "export", {
        heap: heaps[0]?.heap,
        format: "heapsnapshot",
        name: `${nth}.heapsnapshot`,
      });
    const half = MOST_WAITING / 2;
    const ask = (first: number) =>
      wire.send(Array.from({ length: half }, (_, nth) => export_(first + nth)));
    // A client that stays gets all files.
    await ask(0);
    await Promise.all(Array.from({ length: half }, (_, nth) => wire.answer(nth)));
    expect(readdirSync(exports)).toHaveLength(half);
    await ask(half);
    wire.leave();
    if (transport === "HTTP") {
      // The server goes on for other pages, until it is told to end.
      await new Promise((resolve) => setTimeout(resolve, 500));
      wire.child.kill("SIGTERM");
    }
    expect(await wire.exit).toBe(0);
    const written = readdirSync(exports);
    expect(written.filter((name) => !name.endsWith(".heapsnapshot"))).toEqual([]);
    expect(written.length).toBeLessThan(MOST_WAITING);
  });
});
