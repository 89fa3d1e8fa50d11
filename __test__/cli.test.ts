// The command line as a process: its output and its exit codes.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI, ENVIRONMENT, failureOf, outputOf, runIn } from "./support/command_line.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";
import { WINDOWS } from "./support/system.ts";

let server: LeakyServer;
let folder: string;

beforeAll(async () => {
  server = await leakyServer();
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-cli-")));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command line next to the server's files. */
const cli = (...args: string[]) => runIn(server.folder, args);

const ANALYZE = ["analyze", "after.dump", "--wasm", "server.wasm"];
const DIFF = ["diff", "before.dump", "after.dump", "--wasm", "server.wasm"];

/** A new folder for one test. */
function freshFolder(): string {
  return mkdtempSync(join(folder, "test-"));
}

describe("the output", () => {
  const commands: [string, string[], string[]][] = [
    ["analyze", ANALYZE, ["retained", "shallow", "count"]],
    ["diff", DIFF, ["delta", "alloc", "freed", "count"]],
  ];
  for (const [command, args, sorts] of commands) {
    for (const sort of sorts) {
      test(`of ${command} by ${sort} as a table is the golden one`, async () => {
        const output = outputOf(cli(...args, "--sort", sort, "--format", "table"));
        await expect(output).toMatchFileSnapshot(`golden/${command}-${sort}.txt`);
      });

      test(`of ${command} by ${sort} as JSON is the golden one`, async () => {
        const output = outputOf(cli(...args, "--sort", sort, "--top", "3", "--instances", "2"));
        await expect(output).toMatchFileSnapshot(`golden/${command}-${sort}.json`);
      });
    }

    test(`of ${command} is JSON in the default order when nothing is asked for`, () => {
      const explicit = cli(...args, "--sort", sorts[0] as string, "--format", "json");
      expect(outputOf(cli(...args))).toBe(outputOf(explicit));
    });

    test.each([
      [command, "--help"],
      ["help", command],
    ])("of %s %s is the golden one", async (...words) => {
      const output = outputOf(cli(...words));
      await expect(output).toMatchFileSnapshot(`golden/${command}-help.txt`);
    });
  }

  test("of analyze --accounting is the golden one", async () => {
    const output = outputOf(cli(...ANALYZE, "--top", "1", "--accounting"));
    await expect(output).toMatchFileSnapshot("golden/analyze-accounting.json");
  });

  test.each(["--help", "help"])("of %s is the golden one", async (help) => {
    await expect(outputOf(cli(help))).toMatchFileSnapshot("golden/help.txt");
  });

  test.each(["-v", "--version"])("of %s is the package's version", (flag) => {
    const { version } = JSON.parse(readFileSync(resolve(__dirname, "../package.json"), "utf8")) as {
      version: string;
    };
    expect(outputOf(cli(flag))).toBe(`${version}\n`);
  });

  test("has the leaking class on top of the comparison", () => {
    const view = JSON.parse(outputOf(cli(...DIFF, "--top", "1")));
    expect(view.constructors[0]).toMatchObject({
      className: "assembly/server/PriceListener",
      countDelta: 120,
    });
  });
});

describe("an argument error", () => {
  // No input exists: if a file were read first, the error would be about that file.
  const analyze = ["analyze", "nowhere.dump"];
  const diff = ["diff", "nowhere.dump", "neither.dump"];
  const wasm = ["--wasm", "nowhere.wasm"];
  const cases: [string, string[], string][] = [
    [
      "no command",
      [],
      "error: no command given: pass a dump or a folder, or see --help for the commands",
    ],
    [
      "a misspelt command",
      ["susspects"],
      "error: unknown command 'susspects' (Did you mean suspects?)",
    ],
    ["an unknown command", ["xyzzy"], "error: unknown command 'xyzzy'"],
    ["help for an unknown command", ["help", "analyse"], "error: unknown command 'analyse'"],
    ["no dump", ["analyze", ...wasm], "error: missing required argument 'dump-file'"],
    [
      "one dump of two",
      ["diff", "nowhere.dump", ...wasm],
      "error: missing required argument 'after'",
    ],
    [
      "a dump too many",
      [...analyze, "more.dump", ...wasm],
      "error: too many arguments for 'analyze'. Expected 1 argument but got 2.",
    ],
    [
      "a module option without a value",
      [...analyze, "--wasm"],
      "error: option '-w, --wasm <file>' argument missing",
    ],
    [
      "an unknown sort of analyze",
      [...analyze, ...wasm, "--sort", "delta"],
      "error: option '-s, --sort <order>' argument 'delta' is invalid. Allowed choices are retained, retained-set, shallow, count.",
    ],
    [
      "an unknown sort of diff",
      [...diff, ...wasm, "--sort", "retained"],
      "error: option '-s, --sort <order>' argument 'retained' is invalid. Allowed choices are delta, alloc, freed, count.",
    ],
    [
      "an unknown format",
      [...diff, ...wasm, "--format", "xml"],
      "error: option '-f, --format <format>' argument 'xml' is invalid. Allowed choices are json, table.",
    ],
    [
      "an unknown option",
      [...analyze, ...wasm, "--sorted"],
      "error: unknown option '--sorted' (Did you mean --sort?)",
    ],
    ...["0", "-1", "1.5", "1e3", "0x10", "", " 1", "ten", "+1"].map(
      (top): [string, string[], string] => [
        `--top ${JSON.stringify(top)}`,
        [...analyze, ...wasm, `--top=${top}`],
        `error: option '-n, --top <n>' argument '${top}' is invalid. Expected a whole number ≥ 1.`,
      ],
    ),
  ];
  test.each(cases)("of %s is one line, before any file is read", (_, args, message) => {
    expect(failureOf(cli(...args))).toBe(message);
  });
});

describe("an input error", () => {
  test("of a missing dump names it", () => {
    expect(failureOf(cli("analyze", "no.dump", "--wasm", "server.wasm"))).toMatch(
      /^error: no\.dump: cannot open the file: [^\n]+ \(os error \d+\)$/,
    );
  });

  test("of a missing module names it", () => {
    expect(failureOf(cli("analyze", "after.dump", "--wasm", "no.wasm"))).toMatch(
      /^error: no\.wasm: cannot open the file: [^\n]+ \(os error \d+\)$/,
    );
  });

  test("of a folder with several dumps asks which", () => {
    expect(failureOf(cli("analyze", ".", "--wasm", "server.wasm"))).toMatch(
      /^error: analyze takes one dump, and \. has 2: name one, such as \w+\.dump$/,
    );
  });

  test("of an empty dump names it", () => {
    const empty = join(freshFolder(), "empty.dump");
    writeFileSync(empty, "");
    expect(failureOf(cli("analyze", empty, "--wasm", "server.wasm"))).toContain(
      `error: ${empty}: the file is empty`,
    );
  });

  test("of the second of two dumps names that one", () => {
    const message = failureOf(cli("diff", "before.dump", "server.wasm", "--wasm", "server.wasm"));
    expect(message).toContain("error: server.wasm: this is a WebAssembly module, not a heap dump");
  });

  test("of swapped arguments says so for the dump or the module", () => {
    const message = failureOf(cli("analyze", "after.dump", "--wasm", "before.dump"));
    expect(message).toContain("error: before.dump: this is a heap dump, not a WebAssembly module");
  });

  test("leaves no output file", () => {
    const output = join(freshFolder(), "out.json");
    failureOf(cli("analyze", "no.dump", "--wasm", "server.wasm", "--output", output));
    expect(existsSync(output)).toBe(false);
  });
});

describe("an option that would have no effect", () => {
  test.each([
    ["--instances", ["--instances", "3"], "tables list no instances; use --format json"],
    ["--accounting", ["--accounting"], "tables always show it"],
    ["--retained-set", ["--retained-set"], "tables always show it"],
    ["--with-warnings", ["--with-warnings"], "with a table, warnings are on stderr"],
  ])("with a table is refused: %s", (name, options, reason) => {
    const message = failureOf(cli(...ANALYZE, "--format", "table", ...options));
    expect(message).toContain(name);
    expect(message).toContain(`has no effect here: ${reason}`);
  });
});

test("short options are those that are used most", () => {
  const short = cli(
    "diff",
    "before.dump",
    "after.dump",
    "-w",
    "server.wasm",
    "-s",
    "count",
    "-n",
    "2",
  );
  const long = cli(...DIFF, "--sort", "count", "--top", "2");
  expect(outputOf(short)).toBe(outputOf(long));
});

describe("--retained-set", () => {
  test("adds one number to each row of the JSON, after the sum, and changes nothing else", () => {
    const plain = JSON.parse(outputOf(cli(...ANALYZE)));
    const view = JSON.parse(outputOf(cli(...ANALYZE, "--retained-set")));
    for (const row of view.constructors) {
      const keys = Object.keys(row);
      expect(keys.indexOf("retainedSetSize")).toBe(keys.indexOf("totalRetainedSize") + 1);
      delete row.retainedSetSize;
    }
    expect(view).toEqual(plain);
  });
});

describe("--with-warnings", () => {
  test("ends the JSON with `partial` and `warnings`, and changes nothing else", () => {
    const whole = JSON.parse(outputOf(cli(...ANALYZE)));
    const text = outputOf(cli(...ANALYZE, "--with-warnings"));
    expect(JSON.parse(text)).toEqual({ ...whole, partial: false, warnings: [] });
    expect(text.endsWith(',\n  "partial": false,\n  "warnings": []\n}\n')).toBe(true);
  });

  test("lists what stderr says, with codes, formatted as JSON.stringify does", () => {
    const dump = join(freshFolder(), "odd.dump");
    writeFileSync(dump, Buffer.concat([readFileSync(server.after), Buffer.alloc(100)]));
    const args = ["diff", dump, "after.dump", "--wasm", "server.wasm", "--with-warnings"];
    const { stdout, stderr } = cli(...args);
    const view = JSON.parse(stdout);
    expect(JSON.stringify(view, null, 2)).toBe(stdout.trimEnd());
    const messages = view.warnings.map((warning: { message: string }) => warning.message);
    expect(stderr).toBe(messages.map((message: string) => `warning: ${message}\n`).join(""));
    expect(view.warnings[0].code).toBe("WARN_MEMORY_NOT_WHOLE_PAGES");
  });
});

describe("--instances", () => {
  test("lists the first ones of each row and does not change the sums", () => {
    const whole = JSON.parse(outputOf(cli(...DIFF)));
    for (const row of whole.constructors) row.instances = row.instances.slice(0, 2);
    expect(JSON.parse(outputOf(cli(...DIFF, "--instances", "2")))).toEqual(whole);
  });

  test("of none leaves empty lists", () => {
    const view = JSON.parse(outputOf(cli(...ANALYZE, "--instances", "0")));
    for (const row of view.constructors) expect(row.instances).toEqual([]);
  });

  test("accepts only whole numbers", () => {
    expect(failureOf(cli(...ANALYZE, "--instances", "x"))).toBe(
      "error: option '-i, --instances <n>' argument 'x' is invalid. Expected a whole number ≥ 0.",
    );
  });
});

describe("a warning", () => {
  /** A dump that was cut, but not into anything that is in use. */
  function cutDump(): string {
    const dump = join(freshFolder(), "cut.dump");
    copyFileSync(server.after, dump);
    writeFileSync(dump, Buffer.concat([readFileSync(dump), Buffer.alloc(100)]));
    return dump;
  }

  test("goes to stderr, the result to stdout", () => {
    const { status, stderr, stdout } = cli("analyze", cutDump(), "--wasm", "server.wasm");
    expect(stderr).toMatch(
      /^warning: the memory in the dump has \d+ bytes, which is not [^\n]+\n$/,
    );
    expect(JSON.parse(stdout)).toHaveProperty("totalLiveSize");
    expect(status).toBe(0);
  });

  test("of a comparison names the dump that it is about", () => {
    const dump = cutDump();
    const { stderr } = cli("diff", "before.dump", dump, "--wasm", "server.wasm");
    expect(stderr).toContain(`warning: ${dump}: the memory in the dump`);
  });
});

describe("--output", () => {
  test("writes the same as to stdout, and nothing to stdout", () => {
    const output = join(freshFolder(), "out.json");
    expect(outputOf(cli(...ANALYZE, "--output", output))).toBe("");
    expect(readFileSync(output, "utf8")).toBe(outputOf(cli(...ANALYZE)));
  });

  test("replaces an existing file and leaves no other file", () => {
    const place = freshFolder();
    const output = join(place, "out.txt");
    writeFileSync(output, "old ".repeat(1_000_000));
    outputOf(cli(...ANALYZE, "--format", "table", "--output", output));
    expect(readFileSync(output, "utf8")).toBe(outputOf(cli(...ANALYZE, "--format", "table")));
    expect(readdirSync(place)).toEqual(["out.txt"]);
  });

  test("writes through a link to the file that it names", () => {
    const place = freshFolder();
    writeFileSync(join(place, "real.json"), "old");
    symlinkSync("real.json", join(place, "link.json"));
    outputOf(cli(...ANALYZE, "--output", join(place, "link.json")));
    expect(JSON.parse(readFileSync(join(place, "real.json"), "utf8"))).toHaveProperty(
      "constructors",
    );
  });

  test("never has colours in a file", () => {
    const output = join(freshFolder(), "out.txt");
    outputOf(cli(...DIFF, "--format", "table", "--output", output));
    expect(readFileSync(output, "utf8")).not.toContain("\u001b");
  });

  /** Copies of the inputs, which a test may endanger. */
  function copies(): { place: string; args: string[] } {
    const place = freshFolder();
    for (const file of ["before.dump", "after.dump", "server.wasm"]) {
      copyFileSync(join(server.folder, file), join(place, file));
    }
    const at = (file: string) => join(place, file);
    return {
      place,
      args: ["diff", at("before.dump"), at("after.dump"), "--wasm", at("server.wasm")],
    };
  }

  test.each(["before.dump", "after.dump", "server.wasm"])("refuses the input %s", (input) => {
    const { place, args } = copies();
    const target = join(place, input);
    const size = statSync(target).size;
    expect(failureOf(cli(...args, "--output", target))).toBe(
      `error: --output ${target} is the input ${target}: choose another file`,
    );
    expect(statSync(target).size).toBe(size);
  });

  test("refuses an input through a symbolic link", () => {
    const { place, args } = copies();
    symlinkSync("after.dump", join(place, "link"));
    expect(failureOf(cli(...args, "--output", join(place, "link")))).toContain(
      `is the input ${join(place, "after.dump")}: choose another file`,
    );
  });

  test("refuses an input through a hard link", () => {
    const { place, args } = copies();
    linkSync(join(place, "after.dump"), join(place, "link"));
    expect(failureOf(cli(...args, "--output", join(place, "link")))).toContain(
      `is the input ${join(place, "after.dump")}: choose another file`,
    );
  });

  test("names a folder that is not there", () => {
    const output = join(freshFolder(), "missing", "out.json");
    expect(failureOf(cli(...ANALYZE, "--output", output))).toContain(
      `error: cannot write ${output}: ENOENT`,
    );
  });

  test("names an output that is a folder", () => {
    const output = freshFolder();
    expect(failureOf(cli(...ANALYZE, "--output", output))).toContain(
      `error: cannot write ${output}: EISDIR`,
    );
  });

  test.skipIf(WINDOWS)("writes to a device without replacing it", () => {
    expect(outputOf(cli(...ANALYZE, "--output", "/dev/null"))).toBe("");
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });
});

describe("the command", () => {
  test("works through a symbolic link, as npx starts it", () => {
    const link = join(freshFolder(), "warpo-heap-analyzer");
    symlinkSync(CLI, link);
    const run = spawnSync(process.execPath, [link, ...ANALYZE], {
      cwd: server.folder,
      env: ENVIRONMENT,
      encoding: "utf8",
    });
    expect(outputOf(run)).toBe(outputOf(cli(...ANALYZE)));
  });

  test("can be started by its own name if it is executable", () => {
    expect(readFileSync(CLI, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test("works from anywhere, with spaces and other scripts in paths", () => {
    const place = join(freshFolder(), "my dumps", "ダンプ é");
    mkdirSync(place, { recursive: true });
    copyFileSync(server.after, join(place, "after 1.dump"));
    copyFileSync(server.wasm, join(place, "sérver.wasm"));
    const run = spawnSync(
      process.execPath,
      [CLI, "analyze", "after 1.dump", "--wasm", "sérver.wasm"],
      { cwd: place, env: ENVIRONMENT, encoding: "utf8" },
    );
    expect(outputOf(run)).toBe(outputOf(cli(...ANALYZE)));
  });

  test.skipIf(WINDOWS)("reads a dump from a pipe", () => {
    const run = spawnSync(
      "sh",
      [
        "-c",
        'cat after.dump | "$0" "$1" analyze /dev/stdin --wasm server.wasm',
        process.execPath,
        CLI,
      ],
      { cwd: server.folder, env: ENVIRONMENT, encoding: "utf8" },
    );
    expect(outputOf(run)).toBe(outputOf(cli(...ANALYZE)));
  });

  test.skipIf(WINDOWS)("reads both dumps from named pipes", () => {
    const place = freshFolder();
    const script = `mkfifo "$2/a" "$2/b"
      cat before.dump > "$2/a" & cat after.dump > "$2/b" &
      "$0" "$1" diff "$2/a" "$2/b" --wasm server.wasm`;
    const run = spawnSync("sh", ["-c", script, process.execPath, CLI, place], {
      cwd: server.folder,
      env: ENVIRONMENT,
      encoding: "utf8",
    });
    expect(outputOf(run)).toBe(outputOf(cli(...DIFF)));
  });

  test("ends without an error when the reader closes the pipe", async () => {
    const child = spawn(process.execPath, [CLI, ...ANALYZE], {
      cwd: server.folder,
      env: ENVIRONMENT,
    });
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    // The pipe is closed before the first byte.
    child.stdout.destroy();
    const status = await new Promise((done) => child.on("close", done));
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("prints all of a large JSON output", () => {
    const { stdout } = cli(...ANALYZE);
    expect(stdout.endsWith("\n}\n")).toBe(true);
    expect(stdout.length).toBeGreaterThan(1 << 14);
  });

  test("does not change a dump that it reads", () => {
    const dump = join(freshFolder(), "after.dump");
    copyFileSync(server.after, dump);
    outputOf(cli("analyze", dump, "--wasm", "server.wasm"));
    expect(Buffer.compare(readFileSync(dump), readFileSync(server.after))).toBe(0);
  });
});

const hasScript = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);
if (!hasScript) {
  console.warn("there is no `script` of util-linux: the tests on a terminal are skipped");
}

describe("the variable COLUMNS", () => {
  const table = ["analyze", "after.dump", "--wasm", "server.wasm", "--format", "table"];
  const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

  test("limits the lines of a table in a pipe", () => {
    const run = spawnSync(process.execPath, [CLI, ...table], {
      cwd: server.folder,
      env: { ...ENVIRONMENT, COLUMNS: "60" },
      encoding: "utf8",
    });
    expect(widest(outputOf(run))).toBeLessThanOrEqual(60);
    expect(widest(outputOf(cli(...table)))).toBeGreaterThan(60);
  });

  test("does not limit those of a file", () => {
    const output = join(freshFolder(), "table.txt");
    const run = spawnSync(process.execPath, [CLI, ...table, "--output", output], {
      cwd: server.folder,
      env: { ...ENVIRONMENT, COLUMNS: "60" },
      encoding: "utf8",
    });
    outputOf(run);
    expect(readFileSync(output, "utf8")).toBe(outputOf(cli(...table)));
  });
});

describe.skipIf(!hasScript)("on a terminal", () => {
  /** The lines of a table on a terminal of this width. */
  function terminal(columns: number, environment: Record<string, string> = {}): string[] {
    const command = [process.execPath, CLI, ...DIFF, "--format", "table"].join(" ");
    const run = spawnSync("script", ["-qec", `stty cols ${columns}; ${command}`, "/dev/null"], {
      cwd: server.folder,
      env: { ...ENVIRONMENT, TERM: "xterm-256color", ...environment },
      encoding: "utf8",
      input: "",
    });
    return run.stdout.split("\r\n");
  }

  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  const plain = (line: string) => line.replace(/\u001b\[\d+m/g, "");

  test.each([40, 80, 100, 200])("of %i columns no line is wider", (columns) => {
    const lines = terminal(columns).map(plain);
    expect(lines.length).toBeGreaterThan(5);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
  });

  test("of unknown size, 0 columns, no line is wider than 80", () => {
    const lines = terminal(0).map(plain);
    expect(lines.join("\n")).toContain("PriceListener");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("COLUMNS overrides the terminal's width", () => {
    const lines = terminal(200, { COLUMNS: "50" }).map(plain);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  test("growth is coloured", () => {
    expect(terminal(120).join("\n")).toContain("\u001b[31m");
  });

  test("NO_COLOR turns colours off", () => {
    const lines = terminal(120, { NO_COLOR: "1" });
    expect(lines.join("\n")).toContain("PriceListener");
    expect(lines.join("\n")).not.toContain("\u001b");
  });

  test("a dumb terminal gets no colours", () => {
    expect(terminal(120, { TERM: "dumb" }).join("\n")).not.toContain("\u001b");
  });

  /** The output to the terminal of a run that waits for its dump from a pipe until this text is shown. */
  async function terminalOutput(command: (dump: string) => string, awaited: string) {
    const pipe = join(freshFolder(), "slow.dump");
    spawnSync("mkfifo", [pipe]);
    const terminal = spawn("script", ["-qec", command(pipe), "/dev/null"], {
      cwd: server.folder,
      env: { ...ENVIRONMENT, TERM: "xterm", COLUMNS: "80" },
    });
    let output = "";
    const isShown = new Promise<void>((shown) => {
      if (awaited === "") shown();
      terminal.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (output.includes(awaited)) shown();
      });
    });
    const ended = once(terminal, "exit");
    const writer = await open(pipe, "w");
    await isShown;
    await writer.writeFile(readFileSync(server.after));
    await writer.close();
    expect(await ended).toEqual([0, null]);
    return output;
  }

  const run = (options: string) => (dump: string) =>
    `'${process.execPath}' '${CLI}' analyze '${dump}' --wasm server.wasm ${options}`;

  test("long work shows its progress, and removes it at the end", async () => {
    const output = await terminalOutput(run("--format table > table.txt"), "reading the module");
    expect(output).toContain("\r\u001b[Kreading the module");
    expect(output.endsWith("\r\u001b[K")).toBe(true);
    expect(readFileSync(join(server.folder, "table.txt"), "utf8")).toBe(
      outputOf(cli(...ANALYZE, "--format", "table")),
    );
  });

  test("Ctrl-C removes the progress before it ends the run", async () => {
    const pipe = join(freshFolder(), "slow.dump");
    spawnSync("mkfifo", [pipe]);
    const terminal = spawn("script", ["-qec", run("")(pipe), "/dev/null"], {
      cwd: server.folder,
      env: { ...ENVIRONMENT, TERM: "xterm", COLUMNS: "80" },
    });
    let output = "";
    const isShown = new Promise((shown) => {
      terminal.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (output.includes("reading the module")) shown(undefined);
      });
    });
    const ended = once(terminal, "exit");
    await isShown;
    terminal.stdin.write("\u0003");
    // The exit code that a shell reports for a program that SIGINT ended.
    expect(await ended).toEqual([130, null]);
    expect(output.endsWith("\r\u001b[K")).toBe(true);
  });

  test("short work shows nothing but its result", async () => {
    expect(await terminalOutput(run("> view.json"), "")).toBe("");
    expect(readFileSync(join(server.folder, "view.json"), "utf8")).toBe(outputOf(cli(...ANALYZE)));
  });
});

test("without a terminal there are no colours, even if they are forced", () => {
  const run = spawnSync(process.execPath, [CLI, ...DIFF, "--format", "table"], {
    cwd: server.folder,
    env: { ...ENVIRONMENT, FORCE_COLOR: "1" },
    encoding: "utf8",
  });
  expect(outputOf(run)).not.toContain("\u001b");
});
