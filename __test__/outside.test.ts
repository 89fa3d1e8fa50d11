/**
 * Reading from outside: processes that were not prepared, have no inspector, and hear nothing of it. The judges are the
 * program's own inspector, and what the program says of itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { analyzeFile, openHeapFile } from "@warpo/heap-analyzer";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProgram } from "./support/asc_program.ts";
import { CLI, failureOf, runIn } from "./support/command_line.ts";

const PROGRAM = join(import.meta.dirname, "programs/attach/server.cjs");
const BUILDS = [["--debug", "--exportRuntime"], ["-O3"], ["-O3", "--debug", "--exportRuntime"]];

let folder: string;
const running: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "outside-"));
  chmodSync(folder, 0o755);
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function compiled(name: string, flags: string[]): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, (await compileProgram("attach/sessions", ...flags)).wasm);
  return path;
}

/** Starts the program, and waits until it is ready. */
async function start(wasm: string, flags: string[] = []) {
  const child = spawn(process.execPath, [...flags, PROGRAM, wasm]);
  running.push(child);
  let url = "";
  child.stderr.on("data", (text) => {
    url ||= /ws:\/\/\S+/.exec(String(text))?.[0] ?? "";
  });
  await once(child.stdout, "data");
  const send = async (line: string) => {
    child.stdin.write(`${line}\n`);
    await once(child.stdout, "data");
  };
  return { child, pid: String(child.pid), send, url };
}

/** Of `/proc/<pid>/status`, what does not change by itself: signals, who traces it, its threads. */
function quiet(pid: string): string {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return status
    .split("\n")
    .filter((line) => /^(Sig|Shd|Tracer|Threads)/.test(line))
    .join("\n");
}

/** The states of all threads of a process, a letter each: `t` is stopped by a tracer. */
function states(pid: string): string {
  const threads = readdirSync(`/proc/${pid}/task`);
  const state = (thread: string) =>
    /State:\s+(\S)/.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8"))?.[1];
  return threads.map(state).join("");
}

describe.skipIf(process.platform !== "linux")("a process of Node (skipped: only Linux)", () => {
  test.each(BUILDS.map((flags) => ({ flags })))(
    "from outside, its dump and its module are those of its inspector: $flags",
    async ({ flags }) => {
      const wasm = await compiled("same.wasm", flags);
      const { pid, send, url } = await start(wasm, ["--inspect=127.0.0.1:0"]);
      await send("500");
      const [inside, outside] = [join(folder, "inside.dump"), join(folder, "outside.dump")];
      const target = await attach(url);
      await target.writeDump(inside);
      await target.close();
      const { status, stderr } = runIn(folder, ["attach", pid, "--outside", "-o", outside]);
      expect(stderr).toMatch(/^read from outside: all threads stood still for \d+\.\d ms;/);
      expect(status).toBe(0);
      expect(readFileSync(outside).equals(readFileSync(inside))).toBe(true);
      expect(readFileSync(join(folder, "outside.wasm")).equals(readFileSync(wasm))).toBe(true);
    },
  );

  test("without any flag, its live set is what its own collector keeps", async () => {
    const wasm = await compiled("live.wasm", ["-O3", "--debug", "--exportRuntime"]);
    const { child, pid, send } = await start(wasm);
    await send("500");
    const take = (name: string) => {
      expect(runIn(folder, ["attach", pid, "-o", name]).status).toBe(0);
      return analyzeFile(join(folder, name), wasm);
    };
    const before = take("before.dump");
    await send("collect");
    const after = take("after.dump");
    expect(before.constructors).toEqual(after.constructors);
    expect(before.accounting?.garbage).toBeGreaterThan(0);
    expect(after.accounting?.garbage).toBe(0);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  });

  test("in the middle of its work, what only its stack holds is in the dump", async () => {
    const wasm = await compiled("busy.wasm", ["--debug", "--exportRuntime"]);
    const child = spawn(process.execPath, [PROGRAM, wasm, "--busy"]);
    running.push(child);
    await once(child.stdout, "data");
    const taken = runIn(folder, ["attach", String(child.pid), "-o", "busy.dump"]);
    expect(taken.status).toBe(0);
    const heap = openHeapFile(join(folder, "busy.dump"), wasm);
    const [held] = heap.find({ class: "*/Held" }).objects;
    const { roots } = heap.object(held?.address as number);
    expect(roots.map(({ kind }) => kind)).toContain("stack");
    heap.close();
  });

  test("it hears nothing of it: no signal, no tracer, no thread", async () => {
    const wasm = await compiled("quiet.wasm", ["-O3"]);
    const { pid } = await start(wasm);
    const before = quiet(pid);
    expect(before).toContain("TracerPid:\t0");
    runIn(folder, ["attach", pid, "--list"]);
    runIn(folder, ["memories", pid]);
    runIn(folder, ["attach", pid, "-o", "quiet.dump"]);
    expect(quiet(pid)).toBe(before);
  });

  test("all of its threads stand still together, and go on also if this process is killed meanwhile", async () => {
    const wasm = await compiled("large.wasm", ["-O3", "--initialMemory", "8192"]);
    const { pid, send } = await start(wasm);
    /** Kills the analyzer when all threads are stopped. Whether there was such a moment. */
    const kill = async () => {
      const args = ["attach", pid, "--outside", "--output", "killed.dump"];
      const child = spawn(process.execPath, [CLI, ...args], { cwd: folder, stdio: "ignore" });
      const ended = once(child, "exit");
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!isOver) {
        if (/^t+$/.test(states(pid))) {
          child.kill("SIGKILL");
          await ended;
          return child.signalCode === "SIGKILL";
        }
        await setImmediate();
      }
      return false;
    };
    // The moment is short.
    let hasKilled = false;
    for (let nth = 0; nth < 20 && !hasKilled; nth++) hasKilled = await kill();
    expect(hasKilled).toBe(true);
    await expect.poll(() => states(pid), { timeout: 60_000 }).not.toContain("t");
    expect(quiet(pid)).toContain("TracerPid:\t0");
    await send("3");
  });

  test("a module that is not its own is refused, and there is no file", async () => {
    const wasm = await compiled("own.wasm", ["-O3"]);
    const strange = join(folder, "strange.wasm");
    writeFileSync(strange, (await compileProgram("leak", "-O3")).wasm);
    const { pid } = await start(wasm);
    const inside = mkdtempSync(join(folder, "none-"));
    const output = join(inside, "x.dump");
    const message = failureOf(runIn(folder, ["attach", pid, "--wasm", strange, "-o", output]));
    expect(message).toMatch(/not one of this module|were not found/);
    expect(readdirSync(inside)).toEqual([]);
  });

  test("its module with names is accepted for the one without that runs: the code is the same", async () => {
    const wasm = await compiled("bare.wasm", ["-O3"]);
    const named = await compiled("named.wasm", ["-O3", "--debug"]);
    const { pid } = await start(wasm);
    const output = join(folder, "named.dump");
    const { status } = runIn(folder, ["attach", pid, "--wasm", named, "-o", output]);
    expect(status).toBe(0);
  });

  test("memories lists it, with what is in it, as text, JSON and OpenMetrics", async () => {
    const { pid } = await start(await compiled("listed.wasm", ["-O3"]));
    const list = (format: string) => runIn(folder, ["memories", pid, "--format", format]).stdout;
    expect(list("text")).toMatch(
      new RegExp(`^${pid}  64\\.0 KiB  \\d+\\.\\d KiB used  \\d+ %  node\\n$`),
    );
    const { processes, unreadable } = JSON.parse(list("json"));
    expect(unreadable).toBe(0);
    expect(processes).toEqual([
      { pid: Number(pid), program: "node", memories: [expect.objectContaining({ size: 65_536 })] },
    ]);
    const lines = list("openmetrics").split("\n");
    expect(lines).toContain(`wasm_memory_size_bytes{pid="${pid}",program="node",memory="0"} 65536`);
    expect(lines.slice(-2)).toEqual(["# EOF", ""]);
  });

  test("watch shows what grows in it, and what each dump costs it", async () => {
    const { pid } = await start(await compiled("watched.wasm", ["-O3", "--debug"]));
    const words = ["watch", pid, "--every", "100ms", "--count", "2", "--warmup", "0"];
    const { status, stderr } = runIn(folder, words);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("error")]);
  });

  test("this process cannot read its own child, whose pause it would take for its end", async () => {
    const { child } = await start(await compiled("child.wasm", ["-O3"]));
    const target = await attach(child.pid as number);
    await expect(target.writeDump(join(folder, "child.dump"))).rejects.toMatchObject({
      code: "ERR_ATTACH_TARGET",
      message: expect.stringContaining("child of this process"),
    });
    await target.close();
    expect(child.exitCode).toBeNull();
  });
});

describe.skipIf(process.platform !== "linux")("what cannot be read (skipped: only Linux)", () => {
  test("a program without a memory is an error that says what was looked for", async () => {
    const child = spawn("sleep", ["100"]);
    running.push(child);
    await once(child, "spawn");
    const message = failureOf(runIn(folder, ["attach", String(child.pid), "-o", "x.dump"]));
    expect(message).toContain("has no WebAssembly memory that can be seen from outside");
    expect(child.exitCode).toBeNull();
    const none = runIn(folder, ["memories", String(child.pid)]);
    expect(none.stdout).toBe("no process with a WebAssembly memory was found\n");
  });

  test.each(["4194303", "2147483647"])("no process has the id %s", (pid) => {
    expect(failureOf(runIn(folder, ["attach", pid, "--outside", "--list"]))).toContain(
      "there is no such process",
    );
  });

  test("a file that is no core is an error that says so", () => {
    const path = join(folder, "text");
    writeFileSync(path, "no core");
    expect(failureOf(runIn(folder, ["attach", path, "--list"]))).toContain("found no ELF header");
    const program = failureOf(runIn(folder, ["attach", process.execPath, "--list"]));
    expect(program).toContain("expected a core");
  });

  test.skipIf(process.getuid?.() !== 0)(
    "another user's process is refused, with the right that is missing (skipped: needs root)",
    async () => {
      const { pid } = await start(await compiled("other.wasm", ["-O3"]));
      // The package may lie where only its owner can read, so the program reads nothing but `/proc`.
      const addon = dirname(dirname(CLI));
      const isReadable = existsSync(addon);
      expect(isReadable).toBe(true);
      const args = [CLI, "attach", pid, "--outside", "--list"];
      const child = spawn(process.execPath, args, { uid: 65_534, gid: 65_534 });
      let text = "";
      child.stderr.on("data", (piece) => {
        text += piece;
      });
      await once(child, "close");
      expect(text).toContain("it belongs to user 0");
      expect(text).toContain("SYS_PTRACE");
    },
  );
});

/** The kernel writes cores into the folder of the process. */
const pattern = existsSync("/proc/sys/kernel/core_pattern")
  ? readFileSync("/proc/sys/kernel/core_pattern", "utf8").trim()
  : "|";

test.skipIf(/[|/%]/.test(pattern))(
  "of a Node that has crashed, the core has its memory (skipped: the system writes no cores into the folder)",
  async () => {
    const wasm = await compiled("crashed.wasm", ["-O3", "--debug", "--exportRuntime"]);
    const inside = mkdtempSync(join(folder, "core-"));
    const words = ["-c", 'ulimit -c unlimited; exec "$0" "$@"', process.execPath, PROGRAM, wasm];
    const child = spawn("sh", words, { cwd: inside });
    running.push(child);
    await once(child.stdout, "data");
    const live = join(folder, "live.dump");
    expect(runIn(folder, ["attach", String(child.pid), "-o", live]).status).toBe(0);
    child.kill("SIGABRT");
    await once(child, "close");
    const core = readdirSync(inside).find((name) => name.startsWith("core")) as string;
    const dump = join(folder, "core.dump");
    const taken = runIn(folder, ["attach", join(inside, core), "-o", dump, "--wasm", wasm]);
    expect(taken.stderr).toContain("read from a core file");
    expect(readFileSync(dump).equals(readFileSync(live))).toBe(true);
  },
);
