// npm packages as they are published. Node runs them, `attach` takes dumps, and the leak of each is counted.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../../dist/index.js";

const FOLDER = import.meta.dirname;
const CLI = join(FOLDER, "../../dist/heap_analyzer/cli.js");

/** What is kept at least in each round: blocks; 0 if the module has no allocator. */
const PACKAGES = [
  { name: "sql.js", driver: "sqljs", leaked: 100 },
  { name: "tiktoken", driver: "tiktoken", leaked: 100 },
  { name: "xxhash-wasm", driver: "xxhash", leaked: 0 },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "npm-table-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Programs whose runtimes keep bytes of the stack from the start. */
const STACK_IS_KEPT = ["sqljs", "duckdb", "pyodide", "pglite"];

/** Attaches after each of some rounds; gives the files of the dumps, without their ending. */
async function attachedByRound(driver: string, rounds: number): Promise<string[]> {
  const args = ["--inspect=127.0.0.1:0", join(FOLDER, "table/serve.mjs"), driver];
  const target = spawn(process.execPath, args);
  try {
    const exit = once(target, "exit").then(() => Promise.reject(new Error("the target ended")));
    exit.catch(() => {});
    const [address] = await Promise.race([inspectorOf(target.stderr), exit]);
    const lines = createInterface({ input: target.stdout })[Symbol.asyncIterator]();
    const files: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      if (round > 1) target.stdin.write("\n");
      const { value } = await Promise.race([lines.next(), exit]);
      expect(value).toBe("ready");
      const file = join(folder, `${driver}-${round}`);
      const attach = [CLI, "attach", address as string, "--output", `${file}.dump`];
      const { status, stderr } = spawnSync(process.execPath, attach, { encoding: "utf8" });
      expect(status, stderr).toBe(0);
      files.push(file);
    }
    return files;
  } finally {
    target.kill("SIGKILL");
  }
}

/** Blocks in dumps that are taken after one, two and three rounds. */
async function blocksByRound(driver: string): Promise<number[]> {
  const files = await attachedByRound(driver, 3);
  return files.map((file) => {
    const heap = openHeap(readFileSync(`${file}.dump`), readFileSync(`${file}.wasm`));
    const { live } = heap.summary().objects;
    heap.close();
    return live;
  });
}

/** The address that the inspector of a process listens at. */
async function inspectorOf(stderr: NodeJS.ReadableStream): Promise<string[]> {
  for await (const line of createInterface({ input: stderr })) {
    const address = /ws:\/\/\S+/.exec(line);
    if (address !== null) return [address[0]];
  }
  throw new Error("no inspector");
}

describe.skipIf(!existsSync(join(FOLDER, "node_modules/sql.js")))(
  "npm packages, unprepared",
  () => {
    test.each(PACKAGES)(
      "$name: each round keeps $leaked blocks or more",
      async ({ driver, leaked }) => {
        const [first = 0, second = 0, third = 0] = await blocksByRound(driver);
        if (leaked === 0) return expect([first, second, third]).toEqual([0, 0, 0]);
        expect(second - first).toBeGreaterThanOrEqual(leaked);
        expect(third - second).toBeGreaterThanOrEqual(leaked);
      },
      120_000,
    );

    test.each(STACK_IS_KEPT)(
      "%s at rest: no functions are said to be running; without the note of the dump, they would be",
      async (driver) => {
        const [file] = await attachedByRound(driver, 1);
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
