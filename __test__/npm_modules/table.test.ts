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

/** Blocks in dumps that are taken after one, two and three rounds. */
async function blocksByRound(driver: string): Promise<number[]> {
  const args = ["--inspect=127.0.0.1:0", join(FOLDER, "table/serve.mjs"), driver];
  const target = spawn(process.execPath, args);
  try {
    const exit = once(target, "exit").then(() => Promise.reject(new Error("the target ended")));
    exit.catch(() => {});
    const [address] = await Promise.race([inspectorOf(target.stderr), exit]);
    const lines = createInterface({ input: target.stdout })[Symbol.asyncIterator]();
    const blocks: number[] = [];
    for (const round of [1, 2, 3]) {
      if (round > 1) target.stdin.write("\n");
      const { value } = await Promise.race([lines.next(), exit]);
      expect(value).toBe("ready");
      const file = join(folder, `${driver}-${round}`);
      const attach = [CLI, "attach", address as string, "--output", `${file}.dump`];
      const { status, stderr } = spawnSync(process.execPath, attach, { encoding: "utf8" });
      expect(status, stderr).toBe(0);
      const heap = openHeap(readFileSync(`${file}.dump`), readFileSync(`${file}.wasm`));
      blocks.push(heap.summary().objects.live);
      heap.close();
    }
    return blocks;
  } finally {
    target.kill("SIGKILL");
  }
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
  },
);
