// What a stranger meets in the first hour: a folder instead of files, commands that run as this one ran, help in groups.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeptOutput, keeping } from "../dist/heap_analyzer/kept_output.js";
import { wrapped, writeWarnings } from "../dist/heap_analyzer/messages.js";
import { commandOf, continued } from "../dist/heap_analyzer/started_as.js";
import { formatOf } from "../dist/heap_analyzer/view_command.js";
import { runIn } from "./support/command_line.ts";
import { leakyServer } from "./support/leaky_server.ts";

const ROOT = resolve(__dirname, "..");
const outputIn = (where: string, args: string[]) => runIn(where, args).stdout;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "first-hour-"));
  const app = join(folder, "app");
  mkdirSync(join(app, "build"), { recursive: true });
  mkdirSync(join(app, "dumps"));
  // As `asinit` names modules; only one of them is that of the dumps.
  cpSync((await leakyServer()).wasm, join(app, "build/debug.wasm"));
  cpSync(join(ROOT, "examples/leaky-parser/leaking.wasm"), join(app, "build/release.wasm"));
  const script = join(ROOT, "examples/leaky-server/take-dumps.mjs");
  execFileSync(process.execPath, [script, join(app, "build/debug.wasm"), join(app, "dumps")]);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("a folder stands for its dumps and their module", () => {
  test("which are said in one line, for a bare folder too", () => {
    const { status, stdout, stderr } = runIn(join(folder, "app"), ["."]);
    expect(stderr).toBe("found 10 dumps in dumps, module build/debug.wasm\n");
    expect(status).toBe(0);
    expect(stdout).toContain("1 place grows from dump to dump, over 10 dumps");
    expect(stdout).toContain("ask next");
  });

  test("for growth, with the same answer as for the files", () => {
    const app = join(folder, "app");
    const files = Array.from(
      { length: 10 },
      (_, nth) => `dumps/${String(nth + 1).padStart(2, "0")}.dump`,
    );
    const byFiles = outputIn(app, ["growth", ...files, "--wasm", "build/debug.wasm"]);
    expect(outputIn(app, ["growth", "."])).toBe(byFiles);
  });

  test("of which a question about one dump asks back", () => {
    const { status, stderr } = runIn(join(folder, "app"), ["summary", "dumps"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/takes one dump, and dumps has 10: name one, such as dumps\/10\.dump/);
  });

  test("and two folders of dumps, or two modules that fit, are a question", () => {
    const two = join(folder, "two");
    cpSync(join(folder, "app"), two, { recursive: true });
    cpSync(join(two, "build/debug.wasm"), join(two, "build/copy.wasm"));
    expect(runIn(two, ["growth", "."]).stderr).toMatch(
      /each of these fits: build\/copy\.wasm, build\/debug\.wasm/,
    );
    cpSync(join(two, "dumps"), join(two, "other"), { recursive: true });
    expect(runIn(two, ["growth", "."]).stderr).toMatch(
      /dumps \(10\), other \(10\): which of them\?/,
    );
  });

  test("and one without dumps says so", () => {
    mkdirSync(join(folder, "empty"));
    expect(runIn(folder, ["growth", "empty"]).stderr).toMatch(/empty has no dumps/);
  });
});

test("a dump alone shows totals, suspects and what to ask next", () => {
  const { stdout, status } = runIn(join(folder, "app"), [
    "dumps/10.dump",
    "--wasm",
    "build/debug.wasm",
  ]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^heap [\s\S]*\n1\. One assembly\/server\/PriceFeed [\s\S]*\nask next\n/);
});

describe("doctor", () => {
  test("names what grows, what holds it, a test and the command that confirms the mend", () => {
    const { stdout, status } = runIn(join(folder, "app"), ["doctor", "."]);
    expect(status).toBe(0);
    expect(stdout).toContain("over 8 dumps: 400 more assembly/server/PriceListener each time");
    expect(stdout).toContain(
      "Held by global assembly/server/prices, in assembly/server/PriceFeed.listeners.",
    );
    expect(stdout).toContain('await expectNoLeak({ instance, wasm: "build/debug.wasm", run:');
    expect(stdout).toContain("doctor .");
  });

  test("says that nothing grows where nothing does", () => {
    const same = join(folder, "same");
    for (let nth = 1; nth <= 8; nth++) {
      cpSync(join(folder, "app/dumps/05.dump"), join(same, `${nth}.dump`));
    }
    const { stdout } = runIn(folder, ["doctor", "same", "--wasm", "app/build/debug.wasm"]);
    expect(stdout).toBe("Nothing of the program grows over 8 dumps.\n");
  });
});

test.each([
  ["/home/me/app/node_modules/.bin/warpo-heap-analyzer", "npx warpo-heap-analyzer"],
  ["/home/me/.npm/_npx/1f/node_modules/.bin/warpo-heap-analyzer", "npx @warpo/heap-analyzer"],
  ["/usr/local/bin/warpo-heap-analyzer", "warpo-heap-analyzer"],
  ["/home/me/app/tools/warpo-heap-analyzer", "tools/warpo-heap-analyzer"],
  ["/home/me/app/dist/heap_analyzer/cli.js", "node dist/heap_analyzer/cli.js"],
  ["/home/me/app/node_modules/@warpo/heap-analyzer/dist/cli.js", "npx warpo-heap-analyzer"],
  ["/usr/lib/node_modules/@warpo/heap-analyzer/dist/cli.js", "warpo-heap-analyzer"],
])("a process that was started as %s names %s to run next", (script, command) => {
  expect(commandOf(script, { folder: "/home/me/app", path: "/usr/local/bin:/usr/bin" })).toBe(
    command,
  );
});

test("what was captured together is offered: a pinned class leads to the heap snapshot beside the dump", async () => {
  const { nextCommand } = await import("../dist/heap_analyzer/next_command.js");
  const dump = join(folder, "both.dump");
  expect(nextCommand(dump, "app.wasm", {}).next?.ofPinned).toBe(undefined);
  writeFileSync(join(folder, "both.heapsnapshot"), "");
  expect(nextCommand(dump, "app.wasm", {}).next?.ofPinned).toMatch(
    / --host \S*both\.heapsnapshot --class$/,
  );
});

test("a view is JSON for programs, also if an option is about JSON", () => {
  expect(formatOf({ format: "table" })).toBe("table");
  expect(formatOf({ output: "out.json" })).toBe("json");
  expect(formatOf({ instances: 1 })).toBe("json");
});

test("a warning about several dumps is said once, and two things in one dump are said both", async () => {
  const output = new KeptOutput();
  const warning = (message: string) => ({ code: "WARN_X", message });
  const given = ["a.dump: class 17 is odd", "a.dump: class 18 is odd", "b.dump: class 17 is odd"];
  await keeping(output, async () =>
    writeWarnings([...given, "no dump 1", "no dump 2"].map(warning)),
  );
  expect(output.stderr.split("\n")).toEqual([
    "warning: a.dump: class 17 is odd (and in 1 more, with other numbers)",
    "warning: a.dump: class 18 is odd",
    "warning: no dump 1",
    "warning: no dump 2",
    "",
  ]);
});

test("a command that is too wide goes on where a shell continues it, and no argument is cut", () => {
  const command = "tool find a.dump --class 'My Class<a b>'";
  expect(continued(command, undefined)).toBe(`  ${command}`);
  expect(continued(command, 24)).toBe("  tool find a.dump \\\n    --class \\\n    'My Class<a b>'");
});

test("a message is wrapped between words only", () => {
  expect(wrapped("error: a_very_long_word and more", 12)).toBe(
    "error:\n  a_very_long_word\n  and more\n",
  );
});

test("help lists the commands in groups by what they are for, in 80 columns", () => {
  const help = outputIn(folder, ["--help"]);
  expect(help).toMatch(
    /Look at a dump:\n {2}open [\s\S]*Why is it alive, [\s\S]*What grows\?\n {2}doctor /,
  );
  expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("a class is found by the end of its name, and as tables shorten it", () => {
  const find = (name: string) =>
    outputIn(join(folder, "app"), [
      "find",
      "dumps/10.dump",
      "--wasm",
      "build/debug.wasm",
      "--count",
      "--class",
      name,
    ]);
  const all = find("assembly/server/PriceListener");
  expect(find("server/PriceListener")).toBe(all);
  expect(find("assembl…ceListener")).toBe(all);
  // Half a word is no part of a name.
  expect(
    runIn(join(folder, "app"), [
      "find",
      "dumps/10.dump",
      "--wasm",
      "build/debug.wasm",
      "--class",
      "Listener",
    ]).stdout,
  ).not.toContain("PriceListener  ");
});

test("attach to a process that has ended says so", () => {
  expect(runIn(folder, ["attach", String(2 ** 30)]).stderr).toMatch(
    /there is no such process, or it has ended/,
  );
});
