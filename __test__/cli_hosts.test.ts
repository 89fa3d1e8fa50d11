// The command line on a hostile host: signals, closed streams, full disks, inputs that are not files, and names
// with control characters.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI, ENVIRONMENT, failureOf, outputOf, runIn } from "./support/command_line.ts";
import {
  noPermissions,
  noSmallDisk,
  runOnSmallDisk,
  runUnprivileged,
  shellQuoted,
} from "./support/hosts.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";
import { WINDOWS } from "./support/system.ts";

let server: LeakyServer;
let folder: string;

beforeAll(async () => {
  server = await leakyServer();
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-cli-hosts-")));
  // Other users need access too: some tests run as another user.
  chmodSync(folder, 0o755);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A separate folder for one test. */
function freshFolder(): string {
  const fresh = mkdtempSync(join(folder, "test-"));
  chmodSync(fresh, 0o777);
  return fresh;
}

/** Arguments with whole paths, for runs in other folders. */
const analyze = (dump = server.after, wasm = server.wasm) => ["analyze", dump, "--wasm", wasm];

const cli = (...args: string[]) => runIn(folder, args);

/** The output of a successful run. */
const wholeOutput = () => outputOf(cli(...analyze()));

/** Runs a shell script in which `$CLI` is the command with whole arguments. */
function shell(script: string, args: string[] = analyze()) {
  const command = shellQuoted(process.execPath, CLI, ...args);
  return spawnSync("sh", ["-c", script.replaceAll("$CLI", command)], {
    cwd: folder,
    env: ENVIRONMENT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
}

function start(args: string[]): ChildProcess & { text: { stdout: string; stderr: string } } {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, env: ENVIRONMENT });
  const text = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (more) => {
    text.stdout += more;
  });
  child.stderr.setEncoding("utf8").on("data", (more) => {
    text.stderr += more;
  });
  return Object.assign(child, { text });
}

/** A named pipe. Opening it for writing blocks until a reader opens it. */
function pipe(): string {
  const path = join(freshFolder(), "pipe");
  spawnSync("mkfifo", [path]);
  return path;
}

/** A dump that causes a warning: its memory is not a whole number of pages. */
function oddDump(): string {
  const dump = join(freshFolder(), "odd.dump");
  writeFileSync(dump, Buffer.concat([readFileSync(server.after), Buffer.alloc(100)]));
  return dump;
}

if (WINDOWS) console.warn("tests of signals, devices and pipes are skipped on Windows");

const isFullThere = existsSync("/dev/full");
if (!isFullThere) console.warn("tests with /dev/full are skipped: it is not there");

describe.skipIf(WINDOWS)("a signal", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends a run as it ends any program",
    async (signal) => {
      const dump = pipe();
      const child = start(analyze(dump));
      // Opens when the analysis has begun.
      const writer = await open(dump, "w");
      child.kill(signal);
      expect(await once(child, "close")).toEqual([null, signal]);
      expect(child.text).toEqual({ stdout: "", stderr: "" });
      await writer.close();
    },
  );

  /** A run that is in the middle of writing its output: the disk does not answer. */
  async function stuckWhileWriting(output: string) {
    const stuck = join(freshFolder(), "stuck.cjs");
    writeFileSync(
      stuck,
      `require("node:fs").write = () => process.stderr.write("stuck");
       setInterval(() => {}, 1000);`,
    );
    const child = spawn(
      process.execPath,
      ["--require", stuck, CLI, ...analyze(), "--output", join(output, "view.json")],
      { cwd: folder, env: ENVIRONMENT },
    );
    await once(child.stderr, "data");
    expect(readdirSync(output).some((name) => name.endsWith(".tmp"))).toBe(true);
    return child;
  }

  test("while the output is written leaves the older file and nothing beside it", async () => {
    const output = freshFolder();
    writeFileSync(join(output, "view.json"), "older");
    const child = await stuckWhileWriting(output);
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([null, "SIGTERM"]);
    expect(readdirSync(output)).toEqual(["view.json"]);
    expect(readFileSync(join(output, "view.json"), "utf8")).toBe("older");
  });

  test("while tables are written leaves none of them", async () => {
    const output = freshFolder();
    const stuck = join(freshFolder(), "stuck.cjs");
    // The third table cannot be written.
    writeFileSync(
      stuck,
      `const fs = require("node:fs");
       const { openSync } = fs;
       let files = 0;
       fs.openSync = (path, ...options) => {
         if (String(path).endsWith(".tmp") && ++files === 3) {
           fs.write = () => process.stderr.write("stuck");
           setInterval(() => {}, 1000);
         }
         return openSync(path, ...options);
       };`,
    );
    const tables = ["--to", "parquet", "--captured-at", "file-time", "--output", output];
    const child = spawn(
      process.execPath,
      ["--require", stuck, CLI, "export", server.after, "--wasm", server.wasm, ...tables],
      { cwd: folder, env: ENVIRONMENT },
    );
    const [text] = await once(child.stderr, "data");
    expect(String(text)).toBe("stuck");
    child.kill("SIGTERM");
    // A shell reports this as 143.
    expect(await once(child, "close")).toEqual([null, "SIGTERM"]);
    const left = readdirSync(output, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
  });

  test("during work within work calls the innermost clean-up first, and ends the process", () => {
    const script = `
      const { interruptibly } = require(${JSON.stringify(join(CLI, "../interruption.js"))});
      const log = (text) => require("node:fs").writeSync(1, text + " ");
      const wait = () => new Promise((resolve) => setTimeout(resolve, 1));
      (async () => {
        await interruptibly(() => log("over"), wait);
        await interruptibly(() => log("outer"), async () => {
          await interruptibly(() => log("over as well"), wait);
          await interruptibly(() => log("inner"), async () => {
            process.kill(process.pid, "SIGTERM");
            await new Promise((resolve) => setTimeout(resolve, 60_000));
          });
        });
      })();`;
    const { stdout, status, signal } = spawnSync(process.execPath, ["-e", script], {
      encoding: "utf8",
    });
    expect([stdout, status, signal]).toEqual(["inner outer ", null, "SIGTERM"]);
    const { status: code } = spawnSync("sh", [
      "-c",
      '"$@"; exit $?',
      "sh",
      process.execPath,
      "-e",
      script,
    ]);
    expect(code).toBe(143);
  });

  test("that cannot be handled leaves a temporary file, whose name has the process id", async () => {
    const output = freshFolder();
    const child = await stuckWhileWriting(output);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(readdirSync(output)).toEqual([
      expect.stringMatching(/^\.warpo-heap-analyzer-\d+-[0-9a-f]{12}\.tmp$/),
    ]);
    outputOf(cli(...analyze(), "--output", join(output, "view.json")));
    expect(readFileSync(join(output, "view.json"), "utf8")).toBe(wholeOutput());
  });
});

describe.skipIf(WINDOWS)("stdout", () => {
  test("on a disk with room for a part of it is an error", () => {
    // 40 blocks of 512 bytes a file are a disk that is full in the middle of the JSON.
    const { status, stderr } = shell("ulimit -f 40; $CLI > cut.json");
    expect(stderr).toBe("error: cannot write to stdout: EFBIG: file too large\n");
    expect(status).toBe(1);
  });

  test.skipIf(!isFullThere).each([
    ["a table", ["--format", "table"]],
    ["the version", ["--version"]],
    ["the help", ["--help"]],
  ])("that is full is an error for %s", (_, options) => {
    const { status, stderr } = shell("$CLI > /dev/full", [...analyze(), ...options]);
    expect(stderr).toBe("error: cannot write to stdout: ENOSPC: no space left on device\n");
    expect(status).toBe(1);
  });

  test("that is closed together with stderr leaves the inputs unchanged", () => {
    const before = readFileSync(server.after);
    expect(shell("$CLI <&- >&- 2>&-").status).toBe(0);
    expect(readFileSync(server.after)).toEqual(before);
  });

  test("that is closed early ends the help without an error", () => {
    expect(shell(`{ $CLI; echo $? >&2; } | true`, ["--help"]).stderr).toBe("0\n");
  });
});

describe.skipIf(WINDOWS)("stderr", () => {
  test.each([
    ["is closed", "$CLI 2>&-; echo $?"],
    ["is a pipe without a reader", "{ { $CLI 2>&1 >&3; echo $? >&3; } | true; } 3>&1"],
    ["is full", `$CLI 2>${isFullThere ? "/dev/full" : "&-"}; echo $?`],
  ])("that %s costs the warnings, not the result", (_, script) => {
    const args = analyze(oddDump());
    expect(shell(script, args).stdout).toBe(`${cli(...args).stdout}0\n`);
  });

  test("that is closed does not change the exit code of an error", () => {
    expect(shell("$CLI 2>&-", analyze("no.dump")).status).toBe(1);
  });
});

describe.skipIf(WINDOWS)("an input", () => {
  test.each([
    ["dump", (path: string) => analyze(path), "not a heap dump"],
    ["module", (path: string) => analyze(undefined, path), "not a WebAssembly module"],
  ])("that never ends is refused by its first bytes: a %s", async (_, args, message) => {
    const endless = pipe();
    const child = start(args(endless));
    const writer = await open(endless, "w");
    await writer.write("nothing that is known, and more may come");
    const [status] = await once(child, "close");
    expect(failureOf({ status, ...child.text })).toContain(`error: ${endless}: ${message}`);
    await writer.close();
  });

  test("from a pipe of three bytes is truncated", async () => {
    const short = pipe();
    const child = start(analyze(short));
    const writer = await open(short, "w");
    await writer.write("ASH");
    await writer.close();
    const [status] = await once(child, "close");
    expect(failureOf({ status, ...child.text })).toContain("the dump ends at byte 3");
  });

  test("that is a socket is named", async () => {
    const path = join(freshFolder(), "socket");
    const listener = createServer().listen(path);
    await once(listener, "listening");
    expect(failureOf(cli(...analyze(path)))).toContain(`error: ${path}: cannot open the file`);
    listener.close();
  });

  test.each([
    ["to nowhere", "nowhere"],
    ["to itself", "link"],
  ])("that is a link %s is named", (_, target) => {
    const link = join(freshFolder(), "link");
    symlinkSync(target, link);
    expect(failureOf(cli(...analyze(link)))).toContain(`error: ${link}: cannot open the file`);
    expect(failureOf(cli(...analyze(link), "--output", "x"))).toContain(`error: ${link}: `);
  });

  test("of 8 GiB is too large", () => {
    const dump = join(freshFolder(), "huge.dump");
    writeFileSync(dump, readFileSync(server.after).subarray(0, 24));
    truncateSync(dump, 2 ** 33);
    expect(failureOf(cli(...analyze(dump)))).toContain("expected at most 4 GiB");
  });

  test("that is a module of more than 1 GiB is too large", () => {
    const wasm = join(freshFolder(), "huge.wasm");
    writeFileSync(wasm, readFileSync(server.wasm).subarray(0, 8));
    truncateSync(wasm, 2 ** 30 + 1);
    const message = failureOf(cli(...analyze(undefined, wasm)));
    expect(message).toContain(`error: ${wasm}: the module has at least`);
    expect(message).toContain("expected at most 1 GiB");
  });

  test("that may not be read is named", (context) => {
    const reason = noPermissions();
    if (reason) return context.skip(reason);
    const dump = join(freshFolder(), "secret.dump");
    writeFileSync(dump, "");
    chmodSync(dump, 0);
    const run = runUnprivileged([process.execPath, CLI, ...analyze(dump)], folder);
    expect(failureOf(run)).toContain(`error: ${dump}: cannot open the file: Permission denied`);
  });
});

describe.skipIf(WINDOWS)("standard input", () => {
  test.each([
    ["a pipe", `cat ${"$DUMP"} | $CLI`],
    ["a file", `$CLI < ${"$DUMP"}`],
  ])("may be the dump: %s", (_, script) => {
    const { stdout, stderr, status } = shell(
      script.replace("$DUMP", shellQuoted(server.after)),
      analyze("-"),
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toBe(wholeOutput());
  });

  test("may be a socket, as other programs give it", () => {
    const run = spawnSync(process.execPath, [CLI, ...analyze("-")], {
      input: readFileSync(server.after),
      env: ENVIRONMENT,
      maxBuffer: 1 << 28,
    });
    expect(run.stdout.toString()).toBe(wholeOutput());
  });

  test("may be the module", () => {
    const { stdout } = shell(`$CLI < ${shellQuoted(server.wasm)}`, analyze(undefined, "-"));
    expect(stdout).toBe(wholeOutput());
  });

  test("is named in an error", () => {
    const run = shell(`echo "no dump" | $CLI`, analyze("-"));
    expect(failureOf(run)).toContain("error: standard input: not a heap dump");
  });

  test("cannot be two inputs", () => {
    expect(failureOf(shell(`cat /dev/null | $CLI`, analyze("-", "-")))).toBe(
      "error: standard input is given twice: a pipe can be read only once; " +
        "write one of the two inputs to a file, or use two pipes",
    );
  });
});

describe.skipIf(WINDOWS)("a pipe", () => {
  test.each(["json", "table"])("cannot be two dumps: --format %s", (format) => {
    const twice = pipe();
    const args = ["diff", twice, twice, "--wasm", server.wasm, "--format", format];
    expect(failureOf(cli(...args))).toContain(
      `error: ${twice} is given twice: a pipe can be read only once`,
    );
  });

  test("cannot be input and output", () => {
    const both = pipe();
    expect(failureOf(cli(...analyze(both), "--output", both))).toBe(
      `error: --output ${both} is the input ${both}: choose another file`,
    );
  });
});

describe("a name with control characters", () => {
  const HOSTILE = "x\u001b[2J\u009b1m\u202ey\nerror: z";
  const SHOWN = String.raw`x\u{1b}[2J\u{9b}1m\u{202e}y\nerror: z`;

  test("is shown escaped when it is a file's", () => {
    expect(failureOf(cli(...analyze(HOSTILE)))).toContain(`error: ${SHOWN}: cannot open the file`);
  });

  test("is shown escaped when it is an option's", () => {
    expect(failureOf(cli(...analyze(), `--${HOSTILE}`))).toContain(`'--${SHOWN}'`);
  });

  /** The server with another name for a class. */
  function renamed(name: string, hostile: string): string[] {
    const wasm = join(freshFolder(), "renamed.wasm");
    expect(Buffer.byteLength(hostile)).toBe(name.length);
    const bytes = readFileSync(server.wasm).toString("latin1");
    const replacement = Buffer.from(hostile).toString("latin1");
    writeFileSync(wasm, bytes.replaceAll(name, replacement), "latin1");
    return analyze(undefined, wasm);
  }

  test("is shown escaped in a table when it is a class's", () => {
    const args = renamed("PriceListener", "P\u001b[31m\u202eener");
    const table = outputOf(cli(...args, "--format", "table"));
    expect(table).toContain(String.raw`P\u{1b}[31m\u{202e}ener`);
    expect(table).not.toMatch(/[^\n\P{C}]/u);
  });

  test("is in JSON as JSON.stringify writes it", () => {
    const json = outputOf(cli(...renamed("PriceListener", "P\u001b[31m\u202eener")));
    expect(json).toContain(JSON.stringify("P\u001b[31m\u202eener").slice(1, -1));
    expect(JSON.stringify(JSON.parse(json), null, 2)).toBe(json.trimEnd());
  });

  test("is shown escaped in a warning", () => {
    const dump = join(freshFolder(), "odd\u001b[31m.dump");
    writeFileSync(dump, readFileSync(oddDump()));
    const { stderr } = cli("diff", server.before, dump, "--wasm", server.wasm);
    expect(stderr).toContain(String.raw`odd\u{1b}[31m.dump: the memory in the dump`);
  });
});

describe("an empty name", () => {
  test.each([
    ["a dump", () => analyze("")],
    ["a module", () => analyze(undefined, "")],
    ["an output", () => [...analyze(), "--output", ""]],
  ])("of %s is refused before anything is read", (_, args) => {
    expect(failureOf(cli(...args()))).toContain("'' is invalid");
    expect(failureOf(cli(...args()))).toContain("Expected the name of a file.");
  });
});

describe.skipIf(WINDOWS)("--output", () => {
  const writeTo = (output: string) => [...analyze(), "--output", output];

  test("accepts the longest names", () => {
    const output = join(freshFolder(), "x".repeat(255));
    outputOf(cli(...writeTo(output)));
    expect(readFileSync(output, "utf8")).toBe(wholeOutput());
  });

  test.each([0o600, 0o666, 0o751])("keeps the permissions %o of an older file", (mode) => {
    const output = join(freshFolder(), "view.json");
    writeFileSync(output, "older");
    chmodSync(output, mode);
    outputOf(cli(...writeTo(output)));
    expect(statSync(output).mode & 0o777).toBe(mode);
  });

  test("gives a new file the usual permissions", () => {
    const output = join(freshFolder(), "view.json");
    expect(shell("umask 027; $CLI", writeTo(output)).status).toBe(0);
    expect(statSync(output).mode & 0o777).toBe(0o640);
  });

  test("creates the file that a link names", () => {
    const place = freshFolder();
    mkdirSync(join(place, "views"));
    symlinkSync("views/new.json", join(place, "link.json"));
    outputOf(cli(...writeTo(join(place, "link.json"))));
    expect(readFileSync(join(place, "views/new.json"), "utf8")).toBe(wholeOutput());
    expect(readdirSync(place).sort()).toEqual(["link.json", "views"]);
  });

  test("refuses a link to itself", () => {
    const link = join(freshFolder(), "link");
    symlinkSync("link", link);
    expect(failureOf(cli(...writeTo(link)))).toContain(`error: cannot write ${link}: ELOOP`);
  });

  test("refuses a folder that does not exist", () => {
    const place = freshFolder();
    expect(failureOf(cli(...writeTo(`${place}/new/`)))).toBe(
      `error: cannot write ${place}/new/: it ends in a slash, so it names a folder`,
    );
    expect(readdirSync(place)).toEqual([]);
  });

  test("writes to a pipe without replacing it", async () => {
    const output = pipe();
    const child = start(writeTo(output));
    expect(readFileSync(output, "utf8")).toBe(wholeOutput());
    expect(await once(child, "close")).toEqual([0, null]);
    expect(statSync(output).isFIFO()).toBe(true);
  });

  test.each(["/dev/stdout", "/dev/fd/1"])("may be %s, whose reader may stop early", (path) => {
    expect(shell("$CLI | cat", writeTo(path)).stdout).toBe(wholeOutput());
    expect(shell("{ $CLI; echo $? >&2; } | true", writeTo(path)).stderr).toBe("0\n");
  });

  test("may be a pipe whose reader stops early", () => {
    const output = pipe();
    const script = `head -c 1 ${shellQuoted(output)} > /dev/null & $CLI`;
    const { status, stderr } = shell(script, writeTo(output));
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("names a folder that is removed meanwhile", async () => {
    const [dump, place] = [pipe(), freshFolder()];
    const output = join(place, "view.json");
    const child = start([...analyze(dump), "--output", output]);
    const writer = await open(dump, "w");
    rmSync(place, { recursive: true });
    await writer.writeFile(readFileSync(server.after));
    await writer.close();
    const [status] = await once(child, "close");
    expect(failureOf({ status, ...child.text })).toBe(
      `error: cannot write ${output}: ENOENT: no such file or directory`,
    );
  });

  const noRights = noPermissions();
  if (noRights) console.warn(`tests of permissions are skipped: ${noRights}`);

  test.skipIf(noRights).each([
    ["folder", 0o555, 0o666],
    ["file", 0o777, 0o444],
  ])("heeds that a %s may not be written to", (_, folderMode, fileMode) => {
    const place = freshFolder();
    const output = join(place, "view.json");
    writeFileSync(output, "older");
    chmodSync(output, fileMode);
    chmodSync(place, folderMode);
    // A captured dump is for its owner alone.
    const dump = join(freshFolder(), "readable.dump");
    copyFileSync(server.after, dump);
    chmodSync(dump, 0o644);
    const command = [process.execPath, CLI, ...analyze(dump), "--output", output];
    const run = runUnprivileged(command, folder);
    expect(failureOf(run)).toBe(`error: cannot write ${output}: EACCES: permission denied`);
    expect(readFileSync(output, "utf8")).toBe("older");
    expect(readdirSync(place)).toEqual(["view.json"]);
  });

  const noDisk = noSmallDisk();
  if (noDisk) console.warn(`tests on a full disk are skipped: ${noDisk}`);

  test.skipIf(noDisk)("on a full disk leaves the older file and nothing beside it", () => {
    const disk = freshFolder();
    const output = join(disk, "view.json");
    const command = shellQuoted(process.execPath, CLI, ...writeTo(output));
    const script = `echo older > ${output}; ${command}; echo $?; ls -A ${disk}; cat ${output}`;
    const { stdout, stderr } = runOnSmallDisk(disk, 16384, script);
    expect(stderr).toBe(`error: cannot write ${output}: ENOSPC: no space left on device\n`);
    expect(stdout).toBe("1\nview.json\nolder\n");
  });
});
