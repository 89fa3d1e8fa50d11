// The command `check`: its exit codes, each of its rules, the baseline and the files that it writes.

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { check, openHeapFile } from "../dist/index.js";
import type { CheckAnswer } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { runCompiler } from "./support/compile.ts";
import { leakyServer } from "./support/leaky_server.ts";

const ROOT = resolve(__dirname, "..");
const EXAMPLE = join(ROOT, "examples/leaky-server");
const LISTENER = "assembly/server/PriceListener";

/** Has `server.wasm` and `01.dump` to `10.dump` of the leaking server, and `leak.wasm` with `steady*.dump`. */
let folder: string;

const range = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1);
const LEAKING = range(10).map((nth) => `${String(nth).padStart(2, "0")}.dump`);
const STEADY = range(8).map((nth) => `steady${nth}.dump`);
const NAMELESS = range(8).map((nth) => `nameless${nth}.dump`);

interface Program extends WebAssembly.Exports {
  work(count: number): void;
  leak(count: number): void;
}

/** Compiles the program and takes eight dumps of it. */
async function writeDumps(name: string, wasmFile: string, flags: string[], leaked: number) {
  const { wasm } = await runCompiler(["leak.ts", ...flags], {
    baseDir: join(__dirname, "programs"),
    transform: flags.length > 0,
  });
  writeFileSync(join(folder, wasmFile), wasm);
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const exports = (await WebAssembly.instantiate(module, { env: { abort() {} } }))
    .exports as Program;
  exports.work(1000);
  for (const nth of range(8)) {
    exports.work(100);
    exports.leak(leaked);
    writeFileSync(join(folder, `${name}${nth}.dump`), captureDump(exports));
  }
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-check-")));
  copyFileSync((await leakyServer()).wasm, join(folder, "server.wasm"));
  const script = join(EXAMPLE, "take-dumps.mjs");
  execFileSync(process.execPath, [script, join(folder, "server.wasm"), folder]);
  await writeDumps("steady", "leak.wasm", ["--debug"], 0);
  await writeDumps("nameless", "nameless.wasm", [], 10);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cli = (...args: string[]) => runIn(folder, ["check", ...args]);
const leaking = (...args: string[]) => cli(...LEAKING, "--wasm", "server.wasm", ...args);
const steady = (...args: string[]) => cli(...STEADY, "--wasm", "leak.wasm", ...args);

/** The answer of a run that ends with this code. */
function answerOf(run: ReturnType<typeof cli>, code: 0 | 2): CheckAnswer {
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: code, stderr: "" });
  return JSON.parse(run.stdout) as CheckAnswer;
}

/** The text that a run printed that ends with 2. */
function brokenText(run: ReturnType<typeof cli>): string {
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 2, stderr: "" });
  return run.stdout;
}

const json = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));

describe("the output", () => {
  test("of a leaking program is the golden one, with exit code 2", async () => {
    const text = brokenText(leaking("--warmup", "2"));
    await expect(text).toMatchFileSnapshot("golden/check.txt");
  });

  test("of a steady program is the golden one, with exit code 0", async () => {
    await expect(outputOf(steady())).toMatchFileSnapshot("golden/check-passed.txt");
  });

  test("of --help is the golden one", async () => {
    await expect(outputOf(cli("--help"))).toMatchFileSnapshot("golden/check-help.txt");
  });

  test("as JSON is the answer of the API", () => {
    const heaps = LEAKING.map((dump) =>
      openHeapFile(join(folder, dump), join(folder, "server.wasm")),
    );
    const answer = check(heaps, { warmup: 2 });
    for (const heap of heaps) heap.close();
    const printed = answerOf(leaking("--warmup", "2", "--format", "json"), 2);
    expect(JSON.stringify(printed)).toBe(JSON.stringify(answer));
  });

  test("goes to a file", () => {
    expect(outputOf(steady("--output", "check.txt"))).toBe("");
    expect(readFileSync(join(folder, "check.txt"), "utf8")).toBe(outputOf(steady()));
  });
});

describe("a rule", () => {
  const rules: [string, string[], boolean][] = [
    ["default", [], false],
    ["max-growth", ["--no-default", "--max-growth", "300KiB"], true],
    ["max-growth", ["--no-default", "--max-growth", "100KiB"], false],
    ["max-growth", ["--no-default", "--max-growth", "1000%"], true],
    ["max-growth", ["--no-default", "--max-growth", "5.5%"], false],
    ["max-live", ["--no-default", "--max-live", "1MiB"], true],
    ["max-live", ["--no-default", "--max-live", "100000"], false],
    [`max ${LISTENER}`, ["--no-default", "--max", `${LISTENER}=4000`], true],
    ["max *Listener", ["--no-default", "--max", "*Listener=3999"], false],
    ["no-growth *Page", ["--no-default", "--no-growth", "*Page"], true],
    ["no-growth *Listener", ["--no-default", "--no-growth", "*Listener"], false],
  ];
  test.each(rules)("%s with %j is kept: %j", (rule, args, isKept) => {
    const answer = answerOf(leaking(...args, "--format", "json"), isKept ? 0 : 2);
    expect(answer.rules.map(({ rule, passed }) => [rule, passed])).toEqual([[rule, isKept]]);
  });

  test("given several times is several rules, in the order of the kinds", () => {
    const args = ["--no-growth", "*Page", "--no-growth", "*Session", "--max", "*Page=40"];
    const answer = answerOf(leaking(...args, "--max", "*Session=9", "--format", "json"), 2);
    expect(answer.rules.map(({ rule }) => rule)).toEqual([
      "default",
      "max *Page",
      "max *Session",
      "no-growth *Page",
      "no-growth *Session",
    ]);
  });

  test("that nothing grows takes as many dumps as --min-dumps says", () => {
    const two = ["01.dump", "02.dump", "--wasm", "server.wasm"];
    expect(failureOf(cli(...two))).toContain("--min-dumps");
    expect(brokenText(cli(...two, "--min-dumps", "2"))).toContain(LISTENER);
  });

  test("that is a budget takes two dumps, and is then the only one", () => {
    const args = ["01.dump", "02.dump", "--wasm", "server.wasm", "--max-live", "1MiB"];
    const { status, stdout, stderr } = cli(...args, "--format", "json");
    expect(status).toBe(0);
    const answer = JSON.parse(stdout) as CheckAnswer;
    expect(answer.rules.map(({ rule }) => rule)).toEqual(["max-live"]);
    expect(stderr).toMatch(
      /^warning: only the budgets were checked: .* 8 dumps .*, and there are 2\n$/,
    );
  });

  test("looks at what rises in every second interval with --slow", () => {
    // Each dump twice: what leaks does not rise between the two.
    const twice = LEAKING.flatMap((dump) => [dump, dump]);
    const args = [...twice, "--wasm", "server.wasm"];
    expect(outputOf(cli(...args))).toContain("passed");
    expect(brokenText(cli(...args, "--slow"))).toContain(LISTENER);
  });
});

test("each dump can have a module of its own", () => {
  const modules = LEAKING.flatMap(() => ["--wasm", "server.wasm"]);
  const one = brokenText(leaking());
  expect(brokenText(cli(...LEAKING, ...modules))).toBe(one);
  expect(failureOf(cli(...LEAKING, ...modules.slice(2)))).toContain("is given 9 times");
});

describe("without a decision, the exit code is 1 and stdout is empty:", () => {
  test("a dump that is missing", () => {
    expect(failureOf(cli(...LEAKING, "no.dump", "--wasm", "server.wasm"))).toContain("no.dump");
  });

  test("a class that no dump has", () => {
    expect(failureOf(leaking("--max", "*Listner=1"))).toContain("*Listner");
  });

  test("too few dumps", () => {
    expect(failureOf(leaking("--warmup", "3"))).toContain("7 dump");
  });

  test("a dump that is damaged, even with --partial", () => {
    copyFileSync(join(folder, "10.dump"), join(folder, "damaged.dump"));
    const { length } = readFileSync(join(folder, "damaged.dump"));
    truncateSync(join(folder, "damaged.dump"), length - 65_536);
    const args = [...LEAKING, "damaged.dump", "--wasm", "server.wasm"];
    expect(cli(...args).status).toBe(1);
    const { status, stdout, stderr } = cli(...args, "--partial", "--allow-warnings");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/\nerror: [^\n]* a dump was read only in part[^\n]*\n$/);
  });

  test("a warning that touches numbers, unless --allow-warnings is given", () => {
    const dumps = LEAKING.map((name) => {
      const dump = readFileSync(join(folder, name));
      const globals = dump.readUInt32LE(20);
      const header = Buffer.from(dump.subarray(0, 24));
      header.writeUInt32LE(0, 20);
      const rest = dump.subarray(24 + 4 * globals);
      writeFileSync(join(folder, `bare-${name}`), Buffer.concat([header, rest]));
      return `bare-${name}`;
    });
    const args = [...dumps, "--wasm", "server.wasm"];
    const { status, stdout, stderr } = cli(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^warning: .*\nerror: .*WARN_GLOBALS_MISSING.*--allow-warnings\n$/s);
    expect(cli(...args, "--allow-warnings").status).toBe(0);
  });
});

test("missing names are no reason not to decide", () => {
  const { status, stderr } = cli(...NAMELESS, "--wasm", "nameless.wasm");
  expect(status).toBe(2);
  expect(stderr).toMatch(/^warning: [^\n]*\n$/);
});

describe("reports and annotations", () => {
  test("are written beside the output", () => {
    const files = ["junit=out.xml", "sarif=out.sarif", "markdown=out=.md"];
    const run = leaking(...files.flatMap((file) => ["--report", file]), "--annotations", "github");
    expect(run.status).toBe(2);
    expect(run.stdout).toBe(brokenText(leaking()));
    expect(run.stderr).toMatch(/^::error title=leak%3A [^\n]*,file=server\.wasm::[^\n]*\n$/);
    expect(readFileSync(join(folder, "out.xml"), "utf8")).toContain("<failure");
    expect(json("out.sarif").runs[0].results).toHaveLength(1);
    expect(readFileSync(join(folder, "out=.md"), "utf8")).toContain(LISTENER);
  });

  test("name the module as seen from the working directory", () => {
    const args = LEAKING.map((dump) => join(folder, dump));
    const wasm = ["--wasm", join(folder, "server.wasm")];
    const inside = cli(...args, ...wasm, "--annotations", "github");
    expect(inside.stderr).toContain(",file=server.wasm::");
    const outside = runIn(ROOT, ["check", ...args, ...wasm, "--annotations", "github"]);
    expect(outside.stderr).toContain(`,file=${join(folder, "server.wasm")}::`);
  });

  test("that cannot be written are an error, with exit code 1", () => {
    const failure = failureOf(leaking("--report", "junit=no/folder/out.xml"));
    expect(failure).toContain("cannot write no/folder/out.xml: ENOENT");
  });

  test("are not written without a decision", () => {
    failureOf(leaking("--warmup", "9", "--report", "junit=never.xml"));
    expect(existsSync(join(folder, "never.xml"))).toBe(false);
  });
});

describe("a baseline", () => {
  const PATH = `global assembly/server/prices > assembly/server/PriceFeed.listeners > ~lib/array/Array<${LISTENER}>[*] > ${LISTENER}`;

  /** Writes a baseline, and gives its name. */
  function baseline(name: string, ...accepted: object[]): string {
    writeFileSync(join(folder, name), JSON.stringify({ schemaVersion: 1, accepted }));
    return name;
  }

  test("accepts what it lists, with a reason", () => {
    const file = baseline("listed.json", { path: PATH, reason: "#12" });
    const answer = answerOf(leaking("--warmup", "2", "--baseline", file, "--format", "json"), 0);
    expect(answer.accepted).toEqual(["de8e6b05a684"]);
    // What grows with the accepted place needs no entry of its own.
    expect(answer.places).toEqual([]);
  });

  test("does not cover a leak if it lists only the array that grows with it", () => {
    const array = PATH.slice(0, PATH.indexOf("[*]"));
    const file = baseline("array.json", { path: array, reason: "#12" });
    const answer = answerOf(leaking("--warmup", "2", "--baseline", file, "--format", "json"), 2);
    expect(answer.places.map(({ className }) => className)).toEqual([LISTENER]);
  });

  test("is written by --update-baseline, with empty reasons, which are then refused", () => {
    const first = leaking("--baseline", "new.json", "--update-baseline", "--warmup", "2");
    expect(first.status).toBe(0);
    expect(first.stderr).toMatch(/^new\.json has \d new entries: fill in their reasons\n$/);
    const written = json("new.json");
    expect(written.schemaVersion).toBe(1);
    expect(written.accepted).toContainEqual({
      path: PATH,
      fingerprint: "de8e6b05a684",
      reason: "",
    });
    expect(failureOf(leaking("--baseline", "new.json", "--warmup", "2"))).toContain(
      "gives no reason for",
    );

    for (const entry of written.accepted) entry.reason = "a ticket";
    writeFileSync(join(folder, "new.json"), JSON.stringify(written));
    const answer = answerOf(
      leaking("--baseline", "new.json", "--warmup", "2", "--format", "json"),
      0,
    );
    expect(answer.places).toEqual([]);
  });

  test("keeps its entries when it is updated, and leaves no other file", () => {
    const entries = [
      { path: PATH, reason: "#12", limit: 9000 },
      { path: "global a > B", reason: "#13" },
    ];
    const file = baseline("kept.json", ...entries);
    leaking("--baseline", file, "--update-baseline");
    expect(json(file).accepted.slice(0, 2)).toEqual(entries);
    expect(readdirSync(folder).filter((name) => name.includes(".tmp"))).toEqual([]);
  });

  test("accepts a place only up to its limit", () => {
    const all = json("kept.json").accepted.slice(2);
    for (const entry of all) entry.reason = "#14";
    const withLimit = (limit: number) =>
      leaking("--baseline", baseline("limit.json", { path: PATH, reason: "#12", limit }, ...all));
    expect(withLimit(4000).status).toBe(0);
    expect(brokenText(withLimit(3999))).toContain(LISTENER);
  });

  test("reports what it lists and does not grow", () => {
    const file = baseline("gone.json", { path: PATH, reason: "#12" });
    expect(answerOf(steady("--baseline", file, "--format", "json"), 0).gone).toEqual([
      "de8e6b05a684",
    ]);
    expect(outputOf(steady("--baseline", file))).toContain("de8e6b05a684");
  });

  test("does not take places whose names are not from the source", () => {
    const args = [...NAMELESS, "--wasm", "nameless.wasm", "--baseline", "nameless.json"];
    expect(cli(...args, "--update-baseline").status).toBe(2);
    expect(json("nameless.json").accepted).toEqual([]);
  });

  const entry = (change: object) => ({ schemaVersion: 1, accepted: [change] });
  const wrong: [string, string, string][] = [
    ["no JSON", "{", "is not JSON"],
    ["a list", "[]", "is not a JSON object"],
    ["another version", `{"schemaVersion":2,"accepted":[]}`, `has "schemaVersion": 2; expected 1`],
    ["no list", `{"schemaVersion":1}`, `has no list "accepted"`],
    ["an unknown key", `{"schemaVersion":1,"accepted":[],"x":1}`, `an unknown key "x"`],
    ["no reason", JSON.stringify(entry({ path: "a" })), "has no text accepted[0].reason"],
    [
      "an empty reason",
      JSON.stringify(entry({ path: "a > B", reason: " " })),
      "gives no reason for a > B",
    ],
    ["no path", JSON.stringify(entry({ reason: "a" })), "has neither accepted[0].path nor"],
    [
      "a path that is none",
      JSON.stringify(entry({ path: 1, reason: "a" })),
      "has no text accepted[0].path",
    ],
    [
      "an entry that is none",
      `{"schemaVersion":1,"accepted":[7]}`,
      "has accepted[0] that is not a JSON object",
    ],
    [
      "a wrong limit",
      JSON.stringify(entry({ path: "a", reason: "b", limit: -1 })),
      "accepted[0].limit",
    ],
    [
      "an unknown key of an entry",
      JSON.stringify(entry({ path: "a", reason: "b", y: 1 })),
      `unknown key "y"`,
    ],
    [
      "an entry twice",
      JSON.stringify({ schemaVersion: 1, accepted: Array(2).fill({ path: "a", reason: "b" }) }),
      "lists a place twice: a",
    ],
  ];
  test.each(wrong)("with %s is refused", (_, text, message) => {
    writeFileSync(join(folder, "wrong.json"), text);
    const failure = failureOf(steady("--baseline", "wrong.json"));
    expect(failure).toContain("the baseline wrong.json");
    expect(failure).toContain(message);
  });

  test("that is missing is refused, with what to do", () => {
    expect(failureOf(steady("--baseline", "nowhere.json"))).toBe(
      "error: cannot read the baseline nowhere.json: ENOENT: no such file or directory; " +
        "--update-baseline writes a new one",
    );
  });
});

describe("an error of arguments is one line", () => {
  const cases: [string, string[], string][] = [
    ["no dump", [], "missing required argument 'dump-files'"],
    ["a size that is none", ["a", "--max-live", "12 MB"], "Expected a size"],
    ["a size beyond all", ["a", "--max-live", "99999999GiB"], "Expected a size"],
    ["a growth that is none", ["a", "--max-growth", "x%"], "Expected a size or a percentage"],
    ["a count that is none", ["a", "--max", "Page"], "Expected a class and a count"],
    ["a class that is none", ["a", "--no-growth", ""], "Expected a class"],
    ["an unknown report", ["a", "--report", "html=a.html"], "Expected a format and a file"],
    ["a report without a file", ["a", "--report", "junit="], "Expected a format and a file"],
    ["an unknown host", ["a", "--annotations", "gitlab"], "Allowed choices are github"],
    ["too few dumps to compare", ["a", "--min-dumps", "1"], "Expected a whole number ≥ 2"],
    [
      "an update without a baseline",
      ["a", "--update-baseline"],
      "--update-baseline needs --baseline",
    ],
    [
      "a file for two reports",
      ["a", "--report", "junit=b", "--report", "sarif=./b"],
      "would be written twice",
    ],
    [
      "a report in place of the module",
      ["a", "--report", "junit=server.wasm"],
      "is the input server.wasm",
    ],
  ];
  test.each(cases)("%s", (_, args, message) => {
    expect(failureOf(cli(...args, "--wasm", "server.wasm"))).toContain(message);
  });
});
