// npm packages as they are published. Node runs them, `attach` takes dumps, and the leak of each is counted.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { growth, openHeap, openHeapFile } from "../../dist/index.js";
import type { Heap } from "../../index.js";
import { type Answer, ROWS, type Row } from "./table/rows.ts";

const FOLDER = import.meta.dirname;
const CLI = join(FOLDER, "../../dist/heap_analyzer/cli.js");
const ROUNDS = 3;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "npm-table-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Programs whose runtimes keep bytes of the stack from the start. */
const STACK_IS_KEPT = ["sqljs", "duckdb", "pyodide", "pglite"];

/** Attaches after each of some rounds; gives the files of the dumps, without their ending. The last has a heap snapshot. */
async function attachedByRound(
  { driver, instance }: Pick<Row, "driver" | "instance">,
  rounds: number,
): Promise<string[]> {
  const args = ["--inspect=127.0.0.1:0", join(FOLDER, "table/serve.mjs"), driver];
  const target = spawn(process.execPath, args);
  try {
    const exit = once(target, "exit").then(() => Promise.reject(new Error("the target ended")));
    exit.catch(() => {});
    const [address] = await Promise.race([inspectorOf(target.stderr), exit]);
    const lines = createInterface({ input: target.stdout })[Symbol.asyncIterator]();
    const chosen = instance === undefined ? [] : ["--instance", `${instance}`];
    const files: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      if (round > 1) target.stdin.write("\n");
      const { value } = await Promise.race([lines.next(), exit]);
      expect(value).toBe("ready");
      const file = join(folder, `${driver}-${round}`);
      const host = round === ROUNDS ? ["--host"] : [];
      const attach = [CLI, "attach", address as string, "--output", `${file}.dump`];
      const all = [...attach, ...chosen, ...host];
      const { status, stderr } = spawnSync(process.execPath, all, { encoding: "utf8" });
      expect(status, stderr).toBe(0);
      files.push(file);
    }
    return files;
  } finally {
    target.kill("SIGKILL");
  }
}

/** The address that the inspector of a process listens at. */
async function inspectorOf(stderr: NodeJS.ReadableStream): Promise<string[]> {
  return await new Promise((resolve, reject) => {
    createInterface({ input: stderr })
      // What the program prints later must not fill the pipe.
      .on("line", (line) => {
        const address = /ws:\/\/\S+/.exec(line);
        if (address !== null) resolve([address[0]]);
      })
      .on("close", () => reject(new Error("no inspector")));
  });
}

/** The classes of JavaScript that hold some of these blocks. */
function holdersOf(file: string, blocks: number[]): Set<string | null> {
  const host = `${file}.heapsnapshot`;
  const heap = openHeapFile(`${file}.dump`, `${file}.wasm`, { host });
  const all = blocks.flatMap((address) => heap.referrers(address).referrers);
  heap.close();
  const held = all.filter(({ evidence }) => evidence !== undefined);
  return new Set(held.map(({ className }) => className));
}

/** Fails unless the blocks grow, and `growth` and the heap snapshot name them. */
function expectLeak(heaps: Heap[], file: string, { blocks, holder }: Answer & { kind: "leak" }) {
  const counts = heaps.map((heap) => heap.summary().objects.live);
  for (const [nth, count] of counts.slice(1).entries()) {
    expect(count - (counts[nth] as number)).toBeGreaterThanOrEqual(blocks);
  }
  const { places, perInterval } = growth(heaps);
  const named = places.reduce((sum, place) => sum + place.perInterval.count, 0);
  // Blocks of one kind can be on several paths, of which one explains the others; or on paths that change.
  const share = Math.max(named / blocks, perInterval.explained / perInterval.live);
  expect(share).toBeGreaterThanOrEqual(0.9);
  if (holder === undefined) return;
  const last = heaps.at(-1) as Heap;
  // What only JavaScript holds is pinned, or looks unreferenced.
  const isLost = (address: number) =>
    ["unreferenced", "pinned"].includes(last.object(address).path?.root.kind ?? "");
  const addresses = last.find({ limit: 5000 }).objects.map(({ address }) => address);
  const holders = holdersOf(file, addresses.filter(isLost).slice(0, 300));
  expect(holders).toContain(holder);
}

describe.skipIf(!existsSync(join(FOLDER, "node_modules/sql.js")))(
  "npm packages, unprepared",
  () => {
    const rows = (isWrong: boolean) =>
      ROWS.filter(({ wrong }) => (wrong !== undefined) === isWrong);

    async function judge(row: Row) {
      const { answer } = row;
      const taken = attachedByRound(row, ROUNDS);
      const opened = taken.then((files) =>
        files.map((file) => openHeap(readFileSync(`${file}.dump`), readFileSync(`${file}.wasm`))),
      );
      if (answer.kind === "refused") return await expect(opened).rejects.toThrow(answer.reason);
      const [files, heaps] = [await taken, await opened];
      const codes = heaps[0]?.warnings.map(({ code }) => code);
      if (answer.kind === "none") expect(codes).toEqual(["WARN_NO_ALLOCATOR"]);
      else expect(codes).not.toContain("WARN_NO_ALLOCATOR");
      if (answer.kind === "leak") expectLeak(heaps, files.at(-1) as string, answer);
      else expect(growth(heaps).places).toEqual([]);
      for (const heap of heaps) heap.close();
    }

    test.each(rows(false))("$name: $answer.kind", judge, 240_000);

    // Each fails as soon as the answer is right.
    for (const row of rows(true)) {
      test.fails(`${row.name} is wrong today: ${row.wrong}`, () => judge(row), 240_000);
    }

    test.each(STACK_IS_KEPT)(
      "%s at rest: no functions are said to be running; without the note of the dump, they would be",
      async (driver) => {
        const [file] = await attachedByRound({ driver }, 1);
        const [dump, wasm] = [readFileSync(`${file}.dump`), readFileSync(`${file}.wasm`)];
        const codes = () => {
          const heap = openHeap(dump, wasm);
          const found = heap.warnings.map(({ code }) => code);
          heap.close();
          return found;
        };
        expect(codes()).not.toContain("WARN_FRAMES_ACTIVE");
        const WITHOUT_NOTE = 2;
        dump.writeUInt32LE(WITHOUT_NOTE, 4);
        expect(codes()).toContain("WARN_FRAMES_ACTIVE");
      },
      240_000,
    );
  },
);
