// What each command can be given under the names of the others, and what it says to run next.

import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { CLI, ENVIRONMENT, failureOf, outputOf, runIn } from "./support/command_line.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";
import { WINDOWS } from "./support/system.ts";

let server: LeakyServer;

beforeAll(async () => {
  server = await leakyServer();
});

const cli = (...args: string[]) => runIn(server.folder, args);
const after = (command: string) => [command, "after.dump", "--wasm", "server.wasm"];

describe("the other name", () => {
  test("of options of a view gives the same table", () => {
    const usual = cli(...after("analyze"), "--top", "3", "--format", "table");
    const other = cli(...after("analyze"), "--limit", "3", "--format", "text");
    expect(outputOf(other)).toBe(outputOf(usual));
    const all = cli(...after("analyze"), "--format", "table");
    expect(outputOf(other)).not.toBe(outputOf(all));
  });

  test("of options of a question gives the same text", () => {
    const args = [...after("find"), "--class", "*"];
    const usual = cli(...args, "--limit", "2", "--format", "text");
    const other = cli(...args, "--top", "2", "--format", "table");
    expect(outputOf(other)).toBe(outputOf(usual));
    expect(outputOf(other)).not.toBe(outputOf(cli(...args)));
  });

  test("beside the usual one is an error, and so is a format that no command has", () => {
    expect(failureOf(cli(...after("waste"), "--limit", "2", "--top", "3"))).toBe(
      "error: --limit and --top are the same option: give one of them",
    );
    expect(failureOf(cli(...after("waste"), "--format", "csv"))).toContain("text, json");
    expect(failureOf(cli(...after("waste"), "--top", "0"))).toContain("whole number ≥ 1");
  });

  test("of a class is its short name, if no other class has it", () => {
    const find = (name: string) => cli(...after("find"), "--class", name, "--limit", "3");
    expect(outputOf(find("PriceListener"))).toBe(outputOf(find("assembly/server/PriceListener")));
    expect(failureOf(find("PriceListene"))).toContain("assembly/server/PriceListener");
  });
});

describe("the help", () => {
  const NO_SECOND = ["summary", "paths", "find", "object", "referrers", "dominators", "waste"];

  test.each(NO_SECOND)("of %s does not offer modules of two builds", (name) => {
    expect(outputOf(cli(name, "--help"))).not.toContain("twice");
  });

  test("of suspects does, which takes them", () => {
    expect(outputOf(cli("suspects", "--help"))).toContain("twice");
  });

  test.each([...NO_SECOND, "analyze", "diff", "suspects", "growth", "check", "report"])(
    "of %s says that its dump can be a snapshot of V8",
    (name) => {
      const [, args = ""] = outputOf(cli(name, "--help")).split("Arguments:");
      expect(args.split("Options:")[0]).toContain(".heapsnapshot");
    },
  );
});

describe("the next command", () => {
  const nextOf = (text: string) =>
    text.match(/(?<=next: (?:warpo-heap-analyzer|node \S+cli\.js) ).*/g) ?? [];
  /** The arguments of a line without quotes inside of words. */
  const words = (line: string) => line.split(" ").map((word) => word.replace(/^'(.*)'$/, "$1"));

  test("stands under each suspect, is continued as a shell expects on a narrow terminal, and runs", () => {
    const env = { ...ENVIRONMENT, COLUMNS: "40" };
    const run = spawnSync(process.execPath, [CLI, ...after("suspects")], {
      cwd: server.folder,
      env,
      encoding: "utf8",
    });
    const text = outputOf(run).replaceAll(/ \\\n +/g, " ");
    expect(outputOf(run)).toMatch(/ \\\n {5}\S/);
    const next = nextOf(text);
    expect(next).toHaveLength((text.match(/^\d+\. /gm) ?? []).length);
    expect(next[0]).toMatch(/^object after\.dump --wasm server\.wasm 0x[0-9a-f]+$/);
    expect(outputOf(cli(...words(next[0] as string)))).toContain("retains");
  });

  test("stands under each growing place, and runs", () => {
    const run = runIn(server.folder, ["growth", "before.dump", "after.dump", "-w", "server.wasm"]);
    const next = nextOf(run.stdout);
    expect(next).toHaveLength((run.stdout.match(/^\d+\. /gm) ?? []).length);
    expect(next[0]).toMatch(/^find after\.dump --wasm server\.wasm --place [0-9a-f]{12}$/);
    expect(outputOf(cli(...words(next[0] as string)))).toContain("assembly/server");
  });

  test("is not in JSON, and not there if a pipe gave the dump", () => {
    expect(outputOf(cli(...after("suspects"), "--format", "json"))).not.toContain("next");
    const piped = `"${process.execPath}" "${CLI}" suspects - --wasm server.wasm < after.dump`;
    const { stdout } = spawnSync(piped, { cwd: server.folder, shell: true, encoding: "utf8" });
    expect(stdout).toContain("1. ");
    expect(nextOf(stdout)).toEqual([]);
  });
});

// `script` of util-linux gives a program a terminal.
const hasScript = !WINDOWS && spawnSync("script", ["--version"]).status === 0;

test.skipIf(!hasScript)("a terminal gets a table, unless JSON was asked for", () => {
  const onTerminal = (...args: string[]) => {
    const line = [process.execPath, CLI, ...after("analyze"), "--top", "1", ...args];
    const quoted = line.map((word) => `'${word}'`).join(" ");
    return spawnSync("script", ["-qec", quoted, "/dev/null"], {
      cwd: server.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).stdout;
  };
  expect(onTerminal()).toMatch(/^heap .*\n {2}live /s);
  expect(onTerminal("--format", "json")).toMatch(/^\{/);
  expect(onTerminal("--accounting")).toMatch(/^\{/);
});
