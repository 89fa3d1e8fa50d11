// The parts of the extension for VS Code that need no editor. `__test__/vscode` has the tests in a real one.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import type { Status } from "../js/explorer/methods.js";
import { moduleFileOf } from "../js/module_file.ts";
import { Analyzer, openArguments, runAnalyzer } from "../packages/vscode/src/analyzer.mts";
import { classFacts, lensTitle } from "../packages/vscode/src/class_facts.mts";
import {
  classesIn,
  classLine,
  declaredName,
  fieldLine,
  variableLine,
} from "../packages/vscode/src/declarations.mts";
import { findModule, heapsIn, isHeap } from "../packages/vscode/src/modules.mts";
import { plainText } from "../packages/vscode/src/plain_text.mts";
import { basesOf, sourcePath } from "../packages/vscode/src/source_files.mts";
import { placesOf, type Suspect } from "../packages/vscode/src/suspects.mts";
import { runCompiler } from "./support/compile.ts";

const ROOT = join(import.meta.dirname, "..");
const PROGRAMS = join(import.meta.dirname, "programs");
const CLI = join(ROOT, "dist/heap_analyzer/cli.js");
const GAME = readFileSync(join(PROGRAMS, "game.ts"), "utf8");
const MODULE = "\0asm\u{1}\0\0\0";
const DUMP = "ASHD\u{2}\0\0\0";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vscode-parts-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder of its own with these files. */
function project(files: Record<string, string | Uint8Array>): string {
  const path = mkdtempSync(join(folder, "project-"));
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), contents);
  }
  return path;
}

describe("the module of a dump", () => {
  const all = async () => true;

  test.each([
    ["beside it", "a.dump", ["program.wasm"], "program.wasm"],
    ["of its name", "a.dump", ["a.wasm", "b.wasm"], "a.wasm"],
    ["in build beside it", "a.dump", ["build/out.wasm"], "build/out.wasm"],
    ["in build beside its folder", "dumps/a.dump", ["build/out.wasm"], "build/out.wasm"],
    ["not in a folder that is no neighbour", "a.dump", ["far/off/out.wasm"], undefined],
    ["not said by two that both fit", "a.dump", ["x.wasm", "y.wasm"], undefined],
  ])("is %s", async (_, dump, modules, expected) => {
    const files = Object.fromEntries(modules.map((name) => [name, MODULE]));
    const path = project({ ...files, [dump]: DUMP });
    const found = await findModule(join(path, dump), all);
    expect(found).toBe(expected && join(path, expected));
  });

  test("is the only one of several that fits", async () => {
    const path = project({ "x.wasm": MODULE, "y.wasm": MODULE, "a.dump": DUMP });
    const fits = async (module: string) => module.endsWith("y.wasm");
    expect(await findModule(join(path, "a.dump"), fits)).toBe(join(path, "y.wasm"));
  });

  test("is one that fits in build, rather than one beside the dump that does not", async () => {
    const path = project({ "other.wasm": MODULE, "build/y.wasm": MODULE, "a.dump": DUMP });
    const fits = async (module: string) => module.endsWith("y.wasm");
    expect(await findModule(join(path, "a.dump"), fits)).toBe(join(path, "build/y.wasm"));
    const none = async () => false;
    expect(await findModule(join(path, "a.dump"), none)).toBeUndefined();
  });

  test("does not exist for a heap snapshot", async () => {
    const path = project({ "x.wasm": MODULE, "a.heapsnapshot": '{"snapshot":{}}' });
    expect(await findModule(join(path, "a.heapsnapshot"), all)).toBeNull();
  });

  test("a file is a heap by its contents, not by its name", async () => {
    const path = project({ "a.dump": DUMP, "notes.dump": "pg_dump", "x.wasm": MODULE });
    expect(await isHeap(join(path, "notes.dump"))).toBe(false);
    expect(await heapsIn(path)).toEqual([join(path, "a.dump")]);
  });
});

describe("declarations", () => {
  test("classes are found with their lines, and words in comments are none", () => {
    const names = classesIn(GAME).map(({ name }) => name);
    expect(names).toEqual(["Player", "Move", "Picture", "Lobby", "Replay"]);
    const text =
      "// class No\n/* x\n * class Not\n */\n@final\nexport default abstract class Yes<T> {}\n";
    expect(classesIn(text)).toEqual([{ name: "Yes", line: 5 }]);
  });

  const lineOf = (part: string) => GAME.split("\n").findIndex((line) => line.includes(part));

  test.each([
    ["Player", "open", "open: bool = true"],
    ["Player", "level", "constructor(public name"],
    ["Picture", "pixels", "pixels: Uint8Array;"],
    ["Lobby", "players", "players: Map"],
  ])("the field %s.%s", (name, field, part) => {
    expect(fieldLine(GAME, classLine(GAME, name) as number, field)).toBe(lineOf(part));
  });

  test("a field of the next class is not one of this class", () => {
    expect(fieldLine(GAME, classLine(GAME, "Player") as number, "moves")).toBeUndefined();
    expect(classLine(GAME, "Nobody")).toBeUndefined();
  });

  test("of two classes with a name, the one around the constructor", () => {
    const text = "class A {\n}\nnamespace b {\n  class A {\n    constructor() {}\n  }\n}\n";
    expect(classLine(text, "A", 4)).toBe(3);
    expect(classLine(text, "A", 0)).toBe(0);
  });

  test("a field of JavaScript is where it gets its first value", () => {
    const text = "class A {\n  constructor() {\n    this.rows = [];\n  }\n}\n";
    expect(fieldLine(text, 0, "rows")).toBe(2);
    expect(fieldLine(text, 0, "row")).toBeUndefined();
  });

  test("variables, and names of classes", () => {
    expect(variableLine(GAME, "lobby")).toBe(lineOf("const lobby"));
    expect(variableLine(GAME, "lob")).toBeUndefined();
    expect(declaredName("assembly/server/Page<~lib/string/String>")).toBe("Page");
    expect(declaredName("game/Space.Page")).toBe("Page");
    expect(moduleFileOf("assembly/server/Page<~lib/string/String>")).toBe("assembly/server.ts");
    for (const name of ["block of 32 B", "Object", "system / Context", "(array)"]) {
      expect(moduleFileOf(name)).toBeUndefined();
    }
  });
});

describe("what stands above a class", () => {
  const source = { className: "game/Player", file: "game.ts", line: null };
  const row = { className: "game/Player", count: 1400, shallowSize: 1, retainedSize: 288_768 };

  test("how much of it lives, and how much more than before", () => {
    const [fact] = classFacts([row], [{ ...row, count: 400 }], [source]);
    expect(fact && lensTitle(fact, "before.dump")).toBe(
      "1,400 live · 282.0 KiB · +1,000 since before.dump",
    );
    const [fewer] = classFacts([row], [{ ...row, count: 1401 }], [source]);
    expect(fewer && lensTitle(fewer, "before.dump")).toContain("−1 since");
    const [same] = classFacts([row], [row], [source]);
    expect(same && lensTitle(same, "before.dump")).toContain("· unchanged since before.dump");
    // A class that was not there before is new as a whole.
    const [added] = classFacts([row], [], [source]);
    expect(added && lensTitle(added, "before.dump")).toContain("+1,400 since");
  });

  test("nothing of an earlier dump if there is none, and nothing of classes without a file", () => {
    const [fact, ...more] = classFacts([row, { ...row, className: "Other" }], undefined, [source]);
    expect(fact && lensTitle(fact, null)).toBe("1,400 live · 282.0 KiB");
    expect(more).toEqual([]);
  });
});

describe("files of the source", () => {
  test("are found from the folders above the module, the nearest first", () => {
    const path = project({
      "assembly/game.ts": "",
      "build/assembly/game.ts": "",
      "build/out.wasm": MODULE,
      "node_modules/assemblyscript/std/assembly/map.ts": "",
    });
    const bases = basesOf(join(path, "build/out.wasm"), [path]);
    expect(sourcePath("assembly/game.ts", bases, [path])).toBe(
      join(path, "build/assembly/game.ts"),
    );
    expect(sourcePath("~lib/map.ts", bases, [path])).toBe(
      join(path, "node_modules/assemblyscript/std/assembly/map.ts"),
    );
    for (const name of ["node:fs", "https://example.com/a.ts", "none.ts", "file:%"]) {
      expect(sourcePath(name, bases, [path])).toBeUndefined();
    }
    // A folder above the workspace is not looked at.
    expect(bases).not.toContain(folder);
  });

  test.each([
    "/dev/zero",
    "file:///dev/zero",
    "file:///etc/passwd",
    "../../../../../../../../etc/passwd",
    "/etc/passwd",
    "/proc/self/environ",
    "~lib/../../../../../../../../../../etc/passwd",
    "//evil/share/x.ts",
    "file://evil/share/x.ts",
    "../outside.ts",
    "assembly",
    "linked.ts",
    "pipes/linked.ts",
    "large.ts",
  ])("outside of the workspace, or no regular file of a size to read, are none: %s", (name) => {
    const outer = project({ "outside.ts": "secret" });
    const path = join(outer, "workspace");
    mkdirSync(join(path, "assembly"), { recursive: true });
    symlinkSync(join(outer, "outside.ts"), join(path, "linked.ts"));
    symlinkSync(outer, join(path, "pipes"));
    writeFileSync(join(path, "large.ts"), "");
    truncateSync(join(path, "large.ts"), 2 ** 30);
    const bases = basesOf(join(path, "build/out.wasm"), [path]);
    expect(sourcePath(name, bases, [path])).toBeUndefined();
    expect(sourcePath(name, basesOf(join(outer, "out.wasm"), [path]), [path])).toBeUndefined();
    expect(sourcePath(name, basesOf(join(outer, "out.wasm"), []), [])).toBeUndefined();
  });

  test("are found through a link that stays in the workspace, and by a whole path in it", () => {
    const path = project({ "real/game.ts": "", "..odd/game.ts": "" });
    symlinkSync(join(path, "real"), join(path, "assembly"));
    const bases = basesOf(join(path, "out.wasm"), [path]);
    for (const name of ["assembly/game.ts", "..odd/game.ts"]) {
      expect(sourcePath(name, bases, [path])).toBe(join(path, name));
      expect(sourcePath(join(path, name), bases, [path])).toBe(join(path, name));
    }
  });
});

describe("a text from outside in a message of the editor", () => {
  test("is no link that runs a command, no control character, and not long", () => {
    expect(plainText("[Fix](command:workbench.action.terminal.new)")).toBe(
      "[Fix] (command:workbench.action.terminal.new)",
    );
    expect(plainText("\u{1b}[2J")).toBe("\\u{1b}[2J");
    expect(plainText("x".repeat(1e6)).length).toBeLessThan(400);
    expect(plainText("assembly/game/Player")).toBe("assembly/game/Player");
  });
});

describe("a suspect in the source", () => {
  const step = { address: 1, addressText: "0x1", shallowSize: 1, retainedSize: 1, repeat: 1 };
  const suspect = {
    className: "game/Player",
    cut: { className: "~lib/map/Map", label: "key", labelText: "[key]", root: null, freed: 1 },
    path: {
      root: { kind: "global", name: "game/lobby" },
      steps: [
        { ...step, className: "game/Lobby", label: null, labelText: null },
        { ...step, className: "~lib/map/Map", label: "players", labelText: ".players" },
      ],
    },
  } as unknown as Suspect;

  test("is the reference to cut, what holds it, the global, and its class", () => {
    expect(placesOf(suspect)).toEqual([
      { className: "~lib/map/Map", field: "key" },
      { className: "game/Lobby", field: "players" },
      { file: "game.ts", variable: "lobby" },
      { className: "game/Player", field: undefined },
    ]);
    expect(placesOf({ ...suspect, cut: null, path: null })).toEqual([
      { className: "game/Player", field: undefined },
    ]);
  });
});

describe("the analyzer in its process", () => {
  let files: string;
  const request = () => ({ paths: [join(files, "a.dump")], module: join(files, "game.wasm") });

  beforeAll(async () => {
    const args = ["game.ts", "--debug", "--exportRuntime", "--sourceMap"];
    const { wasm, sourceMap } = await runCompiler(args, {
      baseDir: PROGRAMS,
      transform: true,
    });
    const module = await WebAssembly.compile(exposeGlobals(wasm));
    const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
    (exports.play as (rounds: number) => void)(20);
    files = project({
      "game.wasm": wasm,
      "game.wasm.map": sourceMap as string,
      "a.dump": captureDump(exports),
    });
  });

  async function read(analyzer: Analyzer): Promise<Status> {
    for (;;) {
      const status = await analyzer.ask("status", {});
      if (status.heap !== null && status.reading === null) return status;
      await setTimeout(20);
    }
  }

  test("gives the page, classes, and the lines of their constructors by the source map", async () => {
    const analyzer = await Analyzer.start(CLI, request());
    expect(await analyzer.page()).toContain("<body>");
    const { heap } = await read(analyzer);
    const { rows } = await analyzer.ask("sources", { heap: heap as string, limit: 1000 });
    const lineOf = (part: string) => GAME.split("\n").findIndex((line) => line.includes(part)) + 1;
    const player = rows.find(({ className }) => className === "game/Player");
    expect(player?.file).toBe("game.ts");
    expect([lineOf("class Player"), lineOf("open: bool")]).toContain(player?.line);
    // Of the library, the file is known at least.
    expect(rows.find(({ className }) => className.startsWith("~lib/map/Map<"))?.file).toBe(
      "~lib/map.ts",
    );
    // A page of it is a page of all of it.
    const page = await analyzer.ask("sources", { heap: heap as string, limit: 1, offset: 1 });
    expect(page.rows).toEqual([rows[1]]);
    expect(page.page).toEqual({ total: rows.length, offset: 1, listed: 1, next: 2 });
    analyzer.stop();
    await analyzer.ended;
    expect(analyzer.isStopped).toBe(true);
  });

  test("is missed when it is killed, and another one gives the same answers", async () => {
    const first = await Analyzer.start(CLI, request());
    const { heap } = await read(first);
    const asked = { heap: heap as string, limit: 5 };
    const before = await first.ask("classes", asked);
    process.kill(first.processId as number, "SIGKILL");
    expect(await first.ended).toContain("SIGKILL");
    expect(first.isStopped).toBe(false);
    await expect(first.ask("classes", asked)).rejects.toThrow();
    const second = await Analyzer.start(CLI, request());
    await read(second);
    expect(await second.ask("classes", asked)).toEqual(before);
    second.stop();
  });

  test("says what is wrong with its files", async () => {
    const module = join(files, "none.wasm");
    const analyzer = await Analyzer.start(CLI, { ...request(), module });
    expect(await analyzer.ended).toContain("none.wasm");
    const { code, messages } = await runAnalyzer(CLI, ["summary", join(files, "none.dump")]);
    expect(code).not.toBe(0);
    expect(messages).toContain("none.dump");
    expect(messages).not.toMatch(/^error:/);
  });

  test("its arguments", () => {
    expect(openArguments({ paths: ["a"], module: null, before: "b", isPartial: true })).toEqual([
      "open",
      "a",
      "--before",
      "b",
      "--partial",
      "--no-browser",
    ]);
  });
});

test("the extension has the version of the analyzer, and does not run where it is not trusted", () => {
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
  const { version, main, capabilities, contributes } = read("packages/vscode/package.json");
  expect(version).toBe(read("package.json").version);
  expect(capabilities.untrustedWorkspaces.supported).toBe(false);
  expect(contributes.configuration.properties["warpoHeap.diagnostics"].default).toBe(false);
  expect(existsSync(join(ROOT, "packages/vscode", main))).toBe(true);
});
