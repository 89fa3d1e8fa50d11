/** `watch`: growth of a running program that was not prepared, while it happens. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeptTables } from "../dist/watch/kept_tables.js";
import { compileProgram } from "./support/asc_program.ts";
import { CLI, failureOf, runIn } from "./support/command_line.ts";

const PROGRAM = join(import.meta.dirname, "programs/attach/watched.cjs");
/** Ten dumps, of which nine count, as fast as they can be taken. */
const TEN = ["--every", "1ms", "--cost", "100", "--count", "10"];

/** 16 MiB, so that `memory.grow` fails soon. */
const MEMORY = ["--maximumMemory", "256"];

let folder: string;
let wasm: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "watch-"));
  wasm = join(folder, "watched.wasm");
  const program = await compileProgram("attach/watched", "-O", "--debug", ...MEMORY);
  writeFileSync(wasm, program.wasm);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const watch = (options: string[], program: string[]) =>
  runIn(folder, ["watch", ...options, "--command", "--", "node", PROGRAM, wasm, ...program]);

test("a leak is said once, with its place, and ends with 2; the last dumps are kept", () => {
  const kept = join(folder, "kept");
  const output = join(folder, "growth.txt");
  const files = ["--folder", kept, "--keep", "3", "--output", output];
  const { status, stdout, stderr } = watch([...TEN, ...files, "--exit-code"], []);
  expect(status).toBe(2);
  const growing = stderr.split("\n").filter((line) => line.includes("grows: "));
  expect(growing).toHaveLength(1);
  expect(growing[0]).toContain("sessions");
  expect(stdout.split("\n").filter((line) => /dump \d+ /.test(line))).toHaveLength(10);
  const text = "1 place grows from dump to dump, over 9 dumps after a warm-up of 1";
  expect(stdout).toContain(text);
  expect(readFileSync(output, "utf8")).toContain(text);
  const dumps = ["watch-000008.dump", "watch-000009.dump", "watch-000010.dump"];
  expect(readdirSync(kept).sort()).toEqual([...dumps, "watch.wasm"]);
  const summary = ["summary", join(kept, dumps[2] as string), "-w", join(kept, "watch.wasm")];
  expect(runIn(folder, summary).stdout).toContain("live");
});

test.runIf(process.env.TEST_HOSTS)(
  "a memory that is larger than --max ends it with 2, and the dump stays",
  () => {
    const kept = join(folder, "too-large");
    const options = ["--every", "1ms", "--cost", "100", "--folder", kept, "--exit-code"];
    const small = watch([...options, "--max", "32KiB"], []);
    expect(small.status).toBe(2);
    expect(small.stderr).toMatch(
      /the memory has \d[^,]+, more than the 32\.0 KiB of --max: \S+000001\.dump/,
    );
    expect(readdirSync(kept).sort()).toEqual(["watch-000001.dump", "watch.wasm"]);
    const large = watch([...TEN, "--folder", kept, "--max", "1GiB"], ["--bounded"]);
    expect(large.status).toBe(0);
    expect(failureOf(watch(["--max", "1MiB"], []))).toContain("--max needs --folder");
  },
);

test("a program that keeps a bounded number of objects is not said to grow", () => {
  const { status, stdout, stderr } = watch([...TEN, "--exit-code"], ["--bounded"]);
  // Each dump has this warning.
  const [said, warning, ...others] = stderr.split("\n");
  expect(said).toContain("dumps contain the program's memory, including its secrets");
  expect(warning).toMatch(/^warning: 2 class\(es\) have no name, /);
  expect(others).toEqual([""]);
  expect(status).toBe(0);
  expect(stdout).toContain("nothing grows from dump to dump");
});

test("a program that is started is looked at until it has an instance, or has ended", () => {
  const late = join(folder, "late.cjs");
  writeFileSync(late, `setTimeout(() => require(${JSON.stringify(PROGRAM)}), 1500);`);
  const two = ["--every", "1ms", "--cost", "100", "--count", "2", "--command", "--", "node"];
  const { status, stdout } = runIn(folder, ["watch", ...two, late, wasm]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/dump 1 .*\n.*dump 2 /);
  const none = runIn(folder, ["watch", ...two, "--eval", "setTimeout(() => {}, 2000)"]);
  expect(none.status).toBe(1);
  expect(none.stderr).toMatch(/\nerror: .*no WebAssembly instance with a memory/);
});

/** Starts the program with an inspector, which has this address. */
async function inspected() {
  const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", PROGRAM, wasm]);
  const [text] = await once(child.stderr, "data");
  return { child, url: /ws:\/\/\S+/.exec(String(text))?.[0] as string };
}

test("ends when a process that it did not start ends", async () => {
  const { child, url } = await inspected();
  const run = spawn(process.execPath, [CLI, "watch", "--every", "1ms", "--cost", "100", url]);
  await once(run.stdout, "data");
  child.kill();
  const [status] = await once(run, "exit");
  expect(status).toBe(0);
});

// Windows ends a process without a signal that it can handle.
test.skipIf(process.platform === "win32")(
  "waits between two dumps of a process that it did not start; a signal removes the dump",
  async () => {
    const { child, url } = await inspected();
    const own = mkdtempSync(join(folder, "temporary-"));
    const env = { ...process.env, TMPDIR: own };
    const run = spawn(process.execPath, [CLI, "watch", "--every", "1h", url], { env });
    let lines = "";
    run.stdout.on("data", (text) => {
      lines += text;
    });
    try {
      await once(run.stdout, "data");
      await new Promise((resolve) => setTimeout(resolve, 1500));
      expect(lines.match(/dump \d+/g)).toEqual(["dump 1"]);
      expect(readdirSync(own)).toHaveLength(1);
      run.kill("SIGTERM");
      expect(await once(run, "exit")).toEqual([null, "SIGTERM"]);
      expect(readdirSync(own)).toEqual([]);
    } finally {
      run.kill("SIGKILL");
      child.kill();
    }
  },
);

test("ends at once when the program ends between two dumps, or before the first", () => {
  const kept = join(folder, "between");
  const start = performance.now();
  const args = ["--every", "1h", "--folder", kept];
  const { status } = watch(args, ["--end-after", join(kept, "watch-000001.dump")]);
  expect(status).toBe(0);
  const early = runIn(folder, ["watch", "--command", "--", "node", "--no-such-option"]);
  expect(early.status).toBe(1);
  expect(early.stderr).toContain("before Node opened its inspector");
  expect(performance.now() - start).toBeLessThan(15_000);
});

test("--exit-code fails if the program ended before 8 dumps counted", () => {
  const kept = join(folder, "few");
  const args = ["--every", "1ms", "--cost", "100", "--folder", kept, "--exit-code"];
  const { status, stdout, stderr } = watch(args, ["--end-after", join(kept, "watch-000002.dump")]);
  expect(status).toBe(1);
  expect(stdout).toMatch(/dump 2 /);
  expect(stderr).toMatch(/--exit-code needs 8 dumps or more after the warm-up.*: found [1-6]\n/);
});

describe("refuses", () => {
  test.each([
    [
      "--exit-code with a --count that is too small",
      ["--exit-code", "--count", "8", "1"],
      "found 7",
    ],
    ["two targets", ["1", "2"], "expected one target"],
    [
      "another program than node",
      ["--command", "--", "ls", "-l"],
      "cannot start ls: expected node",
    ],
    [
      "--on-grow-failure of a running program",
      ["--on-grow-failure", "1"],
      "needs --command and --folder",
    ],
    ["a time without a unit", ["--every", "10", "1"], "Expected a time"],
    ["a cost of 0", ["--cost", "0", "1"], "Expected a percentage"],
  ])("%s", (_, args, message) => {
    expect(failureOf(runIn(folder, ["watch", ...args]))).toContain(message);
  });
});

test("a trap that ends the program leaves a dump with --on-grow-failure", () => {
  const kept = join(folder, "trap");
  const first = join(kept, "watch-000001.dump");
  const args = ["--every", "1s", "--folder", kept, "--on-grow-failure"];
  const { status, stderr } = watch(args, ["--fill-after", first]);
  expect(stderr).toContain("RuntimeError: unreachable");
  expect(status).toBe(0);
  expect(readdirSync(kept).filter((name) => name.startsWith("Heap."))).toHaveLength(1);
});

describe("kept tables", () => {
  const kept = (count: number, warmup: number) => {
    const tables = new KeptTables<number>(warmup);
    for (let nth = 0; nth < count; nth++) tables.add(nth);
    return tables;
  };

  test("all are kept as long as there are few", () => {
    expect(kept(60, 3).tables).toEqual(Array.from({ length: 60 }, (_, nth) => nth));
  });

  test.each([66, 67, 100, 129, 1000, 4096, 100_001])(
    "of %d tables the warm-up, the first and the last stay, in their order",
    (count) => {
      const { tables, counted } = kept(count, 2);
      expect(tables.slice(0, 3)).toEqual([0, 1, 2]);
      expect(tables.at(-1)).toBe(count - 1);
      expect(counted).toBeLessThanOrEqual(64);
      expect(counted).toBeGreaterThanOrEqual(32);
      expect([...tables].sort((left, right) => left - right)).toEqual(tables);
      const steps = tables.slice(3, -1).map((table, nth) => table - (tables[nth + 2] as number));
      expect(new Set(steps).size).toBeLessThanOrEqual(1);
    },
  );
});
