// Heaps of WebAssembly modules of published npm packages, compared with what the modules count themselves. The packages chose
// their compilers, versions and options; most modules have no names.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../../dist/index.js";

const FOLDER = import.meta.dirname;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "npm-heaps-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Block {
  address: number;
  /** The bytes that the program may use, and what they contain. */
  contents: DataView;
  isUnreferenced: boolean;
}

/** The bytes of headers that count as a block's. */
const OVERHEAD = { dlmalloc: 4, emmalloc: 8 };

/** The largest module of a folder: Node itself has smaller ones. */
function largestModule(heaps: string): string {
  const modules = readdirSync(heaps).filter((name) => name.endsWith(".wasm"));
  const size = (name: string) => statSync(join(heaps, name)).size;
  const [largest] = modules.sort((one, other) => size(other) - size(one));
  expect(largest).toBeDefined();
  return join(heaps, largest as string);
}

/** Runs a program, and opens the heap of its module. */
function run(
  program: string,
  {
    allocator = "dlmalloc",
    isFirst = false,
  }: { allocator?: keyof typeof OVERHEAD; isFirst?: boolean } = {},
) {
  const heaps = mkdtempSync(join(folder, `${program}-`));
  const hook = ["--require", join(FOLDER, "dumped.cjs")];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...hook, join(FOLDER, `heaps/${program}.mjs`)],
    { encoding: "utf8", env: { ...process.env, HEAPS: heaps } },
  );
  expect(status, stderr).toBe(0);
  const wasm = isFirst ? join(heaps, "0.wasm") : largestModule(heaps);
  const dump = readFileSync(wasm.replace(/wasm$/, "dump"));
  const heap = openHeap(dump, readFileSync(wasm));
  // The memory is the end of the dump.
  const start = dump.byteLength % 65536;
  const blocks = heap.find({ limit: 1_000_000 }).objects.map(({ address, shallowSize }): Block => {
    const size = shallowSize - OVERHEAD[allocator];
    const contents = new DataView(dump.buffer, dump.byteOffset + start + address, size);
    const isUnreferenced = heap.object(address).path?.root.kind === "unreferenced";
    return { address, contents, isUnreferenced };
  });
  const { summary, warnings } = { summary: heap.summary(), warnings: heap.warnings };
  heap.close();
  return { blocks, summary, warnings, reported: JSON.parse(stdout) as Record<string, number> };
}

/** The sizes that SQLite writes into the first 8 bytes of its blocks, in all builds but those that count elsewhere. */
function sqliteSizes(blocks: Block[]): number[] {
  return blocks.flatMap(({ contents }) => {
    if (contents.byteLength < 8 || contents.getUint32(4, true) !== 0) return [];
    const size = contents.getUint32(0, true);
    const rounding = contents.byteLength - 8 - size;
    return size > 0 && size % 8 === 0 && rounding >= 0 && rounding <= 24 ? [size] : [];
  });
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

describe.skipIf(!existsSync(join(FOLDER, "node_modules")))("heaps of npm packages", () => {
  test("sqlite-wasm: the sizes in front of the blocks are what sqlite3_status reports", () => {
    const { blocks, reported } = run("sqlite");
    const sizes = sqliteSizes(blocks);
    expect(sizes.length).toBe(reported.count);
    expect(sum(sizes)).toBe(reported.used);
  });

  test("quickjs: the blocks are those that the runtime counts", () => {
    const { blocks, reported } = run("quickjs");
    // And a few of the glue between it and JavaScript.
    expect(blocks.length).toBeGreaterThanOrEqual(reported.count as number);
    expect(blocks.length).toBeLessThanOrEqual((reported.count as number) + 8);
  });

  test("libsodium: the blocks are the states that JavaScript holds, and nothing refers to them", () => {
    const { blocks, reported, summary, warnings } = run("sodium");
    expect(blocks.length).toBe(reported.states);
    expect(summary.roots.unreferenced).toBe(reported.states);
    expect(warnings.map(({ code }) => code)).toContain("WARN_HOST_ROOTS_UNKNOWN");
  });

  test("sql.js: most blocks have SQLite's size in front", () => {
    const { blocks } = run("sqljs");
    expect(sqliteSizes(blocks).length).toBeGreaterThan(blocks.length * 0.9);
  });

  describe.each([
    ["sql.js-1.14", true],
    ["sql.js", false],
  ])("%s: the stack that exec() leaves", (version, isLeaking) => {
    const cli = join(FOLDER, "../../dist/heap_analyzer/cli.js");
    const RATE = "the stack grows by 16,000 B per interval: a caller takes stack";
    /** Runs a program of it with Node. */
    const node = (...args: string[]) => {
      const env = { ...process.env, HEAPS: heaps, PACKAGE: version };
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        encoding: "utf8",
        env,
      });
      return { status, stdout, stderr };
    };
    const register = pathToFileURL(join(FOLDER, "../../dist/register.js")).href;
    const program = (name: string) => join(FOLDER, `heaps/${name}.mjs`);

    let heaps: string;
    beforeAll(() => {
      heaps = mkdtempSync(join(folder, "sqljs-stack-"));
      const { status, stderr } = node("--import", register, program("sqljs_stack"));
      expect(status, stderr).toBe(0);
    });

    test.each([
      ["check", isLeaking ? 2 : 0],
      ["growth", 0],
    ])("is named by %s with its rate, or is none", (command, exitCode) => {
      const files = [join(heaps, "*.dump"), "--wasm", join(heaps, "sql.wasm")];
      const { status, stdout } = node(cli, command, ...files, "--warmup", "1");
      if (isLeaking) expect(stdout).toContain(RATE);
      else expect(stdout).not.toContain("the stack grows");
      expect(status).toBe(exitCode);
    });

    test("is named by a leak test with its rate, or is none", () => {
      const { stdout, stderr } = node("--import", register, program("sqljs_test"));
      expect(stderr).toBe("");
      if (isLeaking) expect(stdout).toContain(RATE.replace("interval", "round"));
      else expect(stdout).toBe("no leak\n");
    });

    test("is named by watch, or is none", () => {
      const ten = ["--every", "1ms", "--cost", "100", "--count", "10", "--exit-code"];
      const command = ["--command", "--", "node", program("sqljs_busy")];
      const { status, stderr } = node(cli, "watch", ...ten, ...command);
      const sentence = /grows: the stack grows by [\d,.]+ B per interval: a caller takes stack/;
      if (isLeaking) expect(stderr).toMatch(sentence);
      else expect(stderr).not.toContain("grows");
      expect(status).toBe(isLeaking ? 2 : 0);
    });
  });

  test("resvg: the blocks of Rust are found, and all are held by JavaScript", () => {
    const { blocks, summary, reported } = run("resvg");
    expect(blocks.length).toBeGreaterThan((reported.images as number) * 200);
    expect(summary.unreferenced?.count).toBe(blocks.length);
  });

  test("yoga: the blocks of emmalloc are found", () => {
    const { blocks, reported } = run("yoga", { allocator: "emmalloc" });
    const counts = new Map<number, number>();
    for (const { contents } of blocks) {
      counts.set(contents.byteLength, 1 + (counts.get(contents.byteLength) ?? 0));
    }
    expect(blocks.length).toBeGreaterThan(reported.nodes as number);
    // Each node is a block of the same size.
    expect(Math.max(...counts.values())).toBeGreaterThanOrEqual(reported.nodes as number);
  });

  test("tree-sitter: a memory that is imported, and shared with a side module that is larger", () => {
    const { blocks } = run("treesitter", { isFirst: true });
    expect(blocks.length).toBeGreaterThan(0);
  });
});
