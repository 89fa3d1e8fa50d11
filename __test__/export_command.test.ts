// The command `export`: golden texts, the same bytes as the API, whole files or none.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { CLI, ENVIRONMENT, failureOf, outputOf, runIn } from "./support/command_line.ts";
import { shellQuoted } from "./support/hosts.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";
import { WINDOWS } from "./support/system.ts";

let server: LeakyServer;
let heap: Heap;
let before: Heap;
let folder: string;

beforeAll(async () => {
  server = await leakyServer();
  heap = openHeapFile(server.after, server.wasm);
  before = openHeapFile(server.before, server.wasm);
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-export-")));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command next to the server's files. */
const run = (...args: string[]) =>
  runIn(server.folder, ["export", ...args, "--wasm", "server.wasm"]);

/** A new folder for one test. */
const freshFolder = () => mkdtempSync(join(folder, "test-"));

const HEAP_SNAPSHOT = ["after.dump", "--to", "heapsnapshot"];
const PPROF = ["after.dump", "--to", "pprof"];
const HEAP_DIFF = ["before.dump", "after.dump", "--to", "heap-diff"];

test("the help is the golden one", async () => {
  await expect(outputOf(run("--help"))).toMatchFileSnapshot("golden/export-help.txt");
});

test("heap-diff is the golden one", async () => {
  await expect(outputOf(run(...HEAP_DIFF, "--samples", "2"))).toMatchFileSnapshot(
    "golden/export-heap-diff.ndjson",
  );
});

test("a heap snapshot is the golden one", async () => {
  await expect(outputOf(run(...HEAP_SNAPSHOT))).toMatchFileSnapshot("golden/export.heapsnapshot");
});

describe("the file of an export has the bytes of the API's stream", () => {
  const cases: [string, string[], () => Readable][] = [
    ["heapsnapshot", HEAP_SNAPSHOT, () => heap.export("heapsnapshot")],
    [
      "heapsnapshot --no-strings --all",
      [...HEAP_SNAPSHOT, "--no-strings", "--all"],
      () => heap.export("heapsnapshot", { strings: false, all: true }),
    ],
    ["pprof", PPROF, () => heap.export("pprof")],
    ["heap-diff", HEAP_DIFF, () => heap.export("heap-diff", { before })],
  ];
  test.each(cases)("%s", async (_, args, start) => {
    const output = join(freshFolder(), "exported");
    expect(outputOf(run(...args, "--output", output))).toBe("");
    const written = readFileSync(output).toString("latin1");
    // The command is given paths without folders.
    const expected = (await buffer(start())).toString("latin1");
    expect(written).toBe(expected.replaceAll(`${server.folder}/`, ""));
  });
});

describe("an output file", () => {
  test("stays as it was when the export fails, and nothing is left beside it", () => {
    const target = freshFolder();
    const output = join(target, "out.heapsnapshot");
    writeFileSync(output, "earlier");
    const damaged = join(folder, "damaged.dump");
    writeFileSync(damaged, readFileSync(server.after).subarray(0, 5000));
    failureOf(run(damaged, "--to", "heapsnapshot", "--output", output));
    expect(readFileSync(output, "utf8")).toBe("earlier");
    expect(readdirSync(target)).toEqual(["out.heapsnapshot"]);
  });

  test("is not made for a wrong number of dumps", () => {
    const output = join(freshFolder(), "out");
    const line = failureOf(run("after.dump", "--to", "heap-diff", "--output", output));
    expect(line).toBe("error: --to heap-diff shows two dumps, the earlier first; found 1");
    expect(existsSync(output)).toBe(false);
  });

  test("must not be an input", () => {
    const size = statSync(server.after).size;
    expect(failureOf(run(...PPROF, "--output", "after.dump"))).toContain("is the input after.dump");
    expect(statSync(server.after).size).toBe(size);
  });
});

test.skipIf(WINDOWS)("a reader of stdout that stops early is no error", () => {
  const args = ["export", ...HEAP_SNAPSHOT, "--wasm", "server.wasm"];
  const command = shellQuoted(process.execPath, CLI, ...args);
  const { stdout, stderr } = spawnSync("sh", ["-c", `{ ${command}; echo $? >&2; } | head -c 12`], {
    cwd: server.folder,
    env: ENVIRONMENT,
    encoding: "utf8",
  });
  expect([stdout, stderr]).toEqual(['{"snapshot":', "0\n"]);
});

describe("an error of arguments is one line", () => {
  const cases: [string, string[], string][] = [
    [
      "an unknown format",
      ["after.dump", "--to", "csv"],
      "option '--to <format>' argument 'csv' is invalid. Expected heapsnapshot or pprof or heap-diff or parquet.",
    ],
    ["no format", ["after.dump"], "required option '--to <format>' not specified"],
    [
      "two dumps for a format of one",
      ["before.dump", "after.dump", "--to", "pprof"],
      "--to pprof shows one dump; found 2",
    ],
    [
      "samples of a heap snapshot",
      [...HEAP_SNAPSHOT, "--samples", "3"],
      "option '--samples <n>' has no effect here: only --to heap-diff shows samples",
    ],
    [
      "strings of a profile",
      [...PPROF, "--no-strings"],
      "option '--no-strings' has no effect here: only --to heapsnapshot and --to parquet show them",
    ],
    [
      "labels of a profile",
      [...PPROF, "--label", "service=shop"],
      "option '--label <key=value>' has no effect here: only --to parquet writes tables",
    ],
    [
      "garbage of a comparison",
      [...HEAP_DIFF, "--all"],
      "option '--all' has no effect here: only --to heapsnapshot shows garbage",
    ],
  ];
  test.each(cases)("%s", (_, args, message) => {
    expect(failureOf(run(...args))).toBe(`error: ${message}`);
  });
});
