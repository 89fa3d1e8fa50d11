/**
 * Dumps of processes that were not prepared. The judges are `writeDump` of the exposed module in a process of its
 * own, byte for byte, and the program's collector.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { analyzeFile, type Heap, openHeapFile } from "@warpo/heap-analyzer";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { runCompiler } from "./support/compile.ts";

const PROGRAMS = join(import.meta.dirname, "programs/attach");
const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const COMMAND_LINE = join(import.meta.dirname, "../dist/heap_analyzer/cli.js");

const HOSTS = [
  { title: "this Node", path: process.execPath },
  { title: "Node 22", path: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", path: join(VERSIONS, "node-24/bin/node") },
];
const BUILDS = [
  { title: "with default flags", flags: [] },
  { title: "-O3", flags: ["-O3"] },
  { title: "-O3 --debug --exportRuntime", flags: ["-O3", "--debug", "--exportRuntime"] },
];

let folder: string;
const running: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attach-"));
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function compile(flags: readonly string[]): Promise<string> {
  const file = join(folder, `sessions${flags.join("")}.wasm`);
  if (existsSync(file)) return file;
  const options = { baseDir: PROGRAMS, exportRuntime: false };
  const { wasm } = await runCompiler(["sessions.ts", ...flags], options);
  writeFileSync(file, wasm);
  return file;
}

interface Target {
  child: ChildProcess;
  /** The address of its inspector, if it was started with one. */
  url: string;
  /** Sends a line and waits for the answer. */
  send(line: string): Promise<void>;
}

/** Starts a program, with its inspector on a free port, and waits until it is ready. */
async function start(
  script: string,
  args: string[],
  { node = process.execPath, flags = ["--inspect=127.0.0.1:0"] } = {},
): Promise<Target> {
  const child = spawn(node, [...flags, join(PROGRAMS, script), ...args]);
  running.push(child);
  let url = "";
  child.stderr.on("data", (text) => {
    url ||= /ws:\/\/\S+/.exec(String(text))?.[0] ?? "";
  });
  const answer = () => new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  await answer();
  const send = (line: string) => {
    const answered = answer();
    child.stdin.write(`${line}\n`);
    return answered;
  };
  return {
    child,
    send,
    get url() {
      return url;
    },
  };
}

/** A process of Node takes a free port for an inspector that a signal opens. */
const CLOSED = ["--inspect-port=0"];

describe.each(HOSTS)("$title", ({ path }) => {
  describe.skipIf(!existsSync(path))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test.each(BUILDS)(
        "$title: the dump and the module are those of the program",
        async ({ flags }) => {
          const wasm = await compile(flags);
          const exposed = join(folder, "exposed.dump");
          await start("server.cjs", [wasm, "--expose", exposed], { node: path });
          const { url, child } = await start("server.cjs", [wasm], { node: path });
          const target = await attach(url);
          const [dump, module] = [join(folder, "attached.dump"), join(folder, "attached.wasm")];
          expect(await target.writeDump(dump, { wasmOutput: module })).toEqual([]);
          await target.close();
          expect(readFileSync(dump).equals(readFileSync(exposed))).toBe(true);
          expect(readFileSync(module).equals(readFileSync(wasm))).toBe(true);
          expect(statSync(dump).mode & 0o777).toBe(0o600);
          expect(child.exitCode).toBeNull();
        },
      );

      test("what is live does not change by a collection between two dumps", async () => {
        const wasm = await compile(["-O3", "--debug", "--exportRuntime"]);
        const { url, send } = await start("server.cjs", [wasm], { node: path });
        const [before, after] = [join(folder, "before.dump"), join(folder, "after.dump")];
        await send("500");
        const target = await attach(url);
        await target.writeDump(before);
        await send("collect");
        await target.writeDump(after);
        await target.close();
        const [first, second] = [before, after].map((dump) => analyzeFile(dump, wasm));
        expect(first?.constructors).toEqual(second?.constructors);
        expect(first?.accounting?.garbage).toBeGreaterThan(0);
        expect(second?.accounting?.garbage).toBe(0);
      });
    },
  );
});

describe.skipIf(process.platform === "win32")("a process by its id", () => {
  test("opens its inspector, and closes it again", async () => {
    const wasm = await compile([]);
    const started = await start("server.cjs", [wasm], { flags: CLOSED });
    const { child } = started;
    const target = await attach(child.pid as number, { inspector: true });
    expect(target.instances).toHaveLength(1);
    const dump = join(folder, "by-id.dump");
    await target.writeDump(dump);
    await target.close();
    expect(analyzeFile(dump, wasm).totalLiveSize).toBeGreaterThan(0);
    await expect.poll(() => isListening(started.url)).toBe(false);
    expect(child.exitCode).toBeNull();
  });

  test("a signal that ends attach in the middle of its work closes the inspector, and leaves no file", async () => {
    const wasm = await compile([]);
    const started = await start("server.cjs", [wasm], { flags: CLOSED });
    const { child } = started;
    const own = mkdtempSync(join(folder, "interrupted-"));
    const attached = new Promise<void>((resolve) => {
      child.stderr?.on("data", (text) => {
        if (String(text).includes("Debugger attached")) resolve();
      });
    });
    const args = [
      COMMAND_LINE,
      "attach",
      String(child.pid),
      "--inspector",
      "--output",
      join(own, "a.dump"),
    ];
    const run = spawn(process.execPath, args);
    running.push(run);
    await attached;
    run.kill("SIGTERM");
    expect(await once(run, "exit")).toEqual([null, "SIGTERM"]);
    await expect.poll(() => isListening(started.url)).toBe(false);
    expect(readdirSync(own)).toEqual([]);
    expect(child.exitCode).toBeNull();
  });

  test("a process that is not Node gets no signal", async () => {
    const child = spawn("sleep", ["100"]);
    running.push(child);
    await expect(attach(child.pid as number, { inspector: true })).rejects.toMatchObject({
      code: "ERR_ATTACH_TARGET",
      message: expect.stringContaining("which is not Node"),
    });
    expect(child.exitCode).toBeNull();
  });
});

test("the stack of a program at rest is empty; one that never rests is interrupted, and its stack is in the dump", async () => {
  const wasm = await compile(["--debug", "--exportRuntime"]);
  const dumpOf = async (url: string, name: string) => {
    const target = await attach(url);
    const dump = join(folder, name);
    const warnings = await target.writeDump(dump);
    await target.close();
    return { heap: openHeapFile(dump, wasm), warnings, stack: stackOf(dump) };
  };
  // A call that has ended is no root either.
  const { url, send } = await start("server.cjs", [wasm]);
  await send("hold");
  const resting = await dumpOf(url, "resting.dump");
  expect(resting.warnings).toEqual([]);
  expect(resting.stack).toBe(0);
  expect(resting.heap.find({ class: "*/Held" }).total).toBe(0);
  expect(resting.heap.unreachable().garbage.count).toBeGreaterThan(0);

  const busy = await dumpOf((await start("server.cjs", [wasm, "--busy"])).url, "busy.dump");
  expect(busy.warnings).toEqual([expect.stringContaining("did not come to rest")]);
  expect(busy.stack).toBeGreaterThan(0);
  const [held] = busy.heap.find({ class: "*/Held" }).objects;
  const { roots } = busy.heap.object(held?.address as number);
  expect(new Set(roots.map(({ kind }) => kind))).toEqual(new Set(["stack"]));

  // Everything else that lives is the same.
  const others = (heap: Heap) =>
    heap.constructors().constructors.filter(({ className }) => !className.endsWith("/Held"));
  expect(others(busy.heap)).toEqual(others(resting.heap));
  for (const { heap } of [busy, resting]) heap.close();
});

/** The bytes of the program's stack that are in use, as the header of a dump says. */
function stackOf(dump: string): number {
  const [heapBase, stackPointer] = [12, 16].map((at) => readFileSync(dump).readUInt32LE(at));
  return (heapBase as number) - (stackPointer as number);
}

test("instances of workers, and those of which only a function is kept, are found", async () => {
  const wasm = await compile([]);
  const { url } = await start("threads.cjs", [wasm]);
  const target = await attach(url);
  expect(target.instances.map(({ thread }) => thread)).toEqual([
    "main",
    expect.stringContaining("second"),
    expect.stringContaining("second"),
  ]);
  await expect(target.writeDump(join(folder, "x.dump"))).rejects.toMatchObject({
    code: "ERR_INSTANCE_AMBIGUOUS",
  });
  const counts: number[] = [];
  for (const nth of [0, 1, 2]) {
    const dump = join(folder, `thread-${nth}.dump`);
    expect(await target.writeDump(dump, { instance: nth })).toEqual([]);
    const { constructors } = analyzeFile(dump, wasm);
    counts.push(constructors.reduce((sum, { count }) => sum + count, 0));
  }
  await target.close();
  expect(counts.filter((count) => count > 30)).toHaveLength(1);
});

test("the HTTP parser of Node itself need not be told from the instance of the program", async () => {
  const wasm = await compile([]);
  const { url } = await start("fetching.cjs", [wasm]);
  const target = await attach(url);
  expect(target.instances).toHaveLength(2);
  const [dump, wasmOutput] = [join(folder, "fetching.dump"), join(folder, "fetching.wasm")];
  await target.writeDump(dump, { wasmOutput });
  await target.close();
  expect(readFileSync(wasmOutput)).toEqual(readFileSync(wasm));
});

describe("a target is refused", () => {
  test.each([
    "http://192.168.0.1:9229",
    "ws://example.org/x",
    "http://127.0.0.1.example.org:9229",
    "http://[fe80::1]:9229",
    "http://3232235521:9229",
  ])("%s is not this machine", async (url) => {
    await expect(attach(url)).rejects.toMatchObject({
      code: "ERR_ATTACH_TARGET",
      message: expect.stringContaining("is not an address of this machine"),
    });
  });

  test.each(["https://127.0.0.1:9229", "file:///etc/passwd", "node", ""])(
    "%j is no target",
    (name) => expect(attach(name)).rejects.toMatchObject({ code: "ERR_ATTACH_TARGET" }),
  );

  test("a redirect is not followed", async () => {
    const server = await serve((_, response) => {
      response.writeHead(302, { location: "http://192.168.0.1/json/list" }).end();
    });
    await expect(attach(address(server))).rejects.toMatchObject({
      message: expect.stringContaining("the status is 302"),
    });
    server.close();
  });

  test("a list that refers to another machine is not followed", async () => {
    const server = await serve((_, response) => {
      response.end(
        JSON.stringify([{ type: "node", webSocketDebuggerUrl: "ws://192.168.0.1:1/x" }]),
      );
    });
    await expect(attach(address(server))).rejects.toMatchObject({ code: "ERR_ATTACH_TARGET" });
    server.close();
  });
});

describe("an inspector that lies leads to an error with a code", () => {
  /** What each lie answers, by method. */
  const LIES: Record<string, (method: string) => unknown> = {
    "says nothing": () => undefined,
    "answers a number": () => 7,
    "answers null": () => null,
    "answers texts in place of objects": () => ({ result: "x", objects: "y" }),
    "finds four billion instances": (method) =>
      method === "Runtime.callFunctionOn"
        ? { result: { value: 4e9 } }
        : { result: { objectId: "1" }, objects: { objectId: "2" } },
    "finds half an instance": (method) =>
      method === "Runtime.callFunctionOn"
        ? { result: { value: 0.5 } }
        : { result: { objectId: "1" }, objects: { objectId: "2" } },
  };

  test.each(Object.keys(LIES))("it %s", async (lie) => {
    const server = await inspector((method) => LIES[lie]?.(method));
    await expect(attach(address(server.http), { timeout: 500 })).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_ATTACH_(ANSWER|TIMEOUT)$/),
    });
    server.close();
  });

  test("it hangs up", async () => {
    const server = await inspector(() => "hang up");
    await expect(attach(address(server.http))).rejects.toMatchObject({ code: "ERR_ATTACH_ANSWER" });
    server.close();
  });
});

test("the command line writes the dump and the module, and says what they contain", async () => {
  const wasm = await compile([]);
  const { url } = await start("server.cjs", [wasm]);
  const dump = join(folder, "command.dump");
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [COMMAND_LINE, "attach", url, ...args]);
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (text) => {
      output.stdout += text;
    });
    child.stderr.on("data", (text) => {
      output.stderr += text;
    });
    await new Promise((resolve) => child.on("close", resolve));
    return { ...output, status: child.exitCode };
  };
  const listed = await run("--list");
  expect(listed).toMatchObject({ status: 0, stderr: "" });
  expect(listed.stdout).toMatch(/^0 {2}64\.0 KiB {2}main/);
  const written = await run("--output", dump);
  expect(written).toMatchObject({ status: 0, stdout: "" });
  expect(written.stderr).toContain("they contain the program's memory, including its secrets");
  expect(readFileSync(join(folder, "command.wasm")).equals(readFileSync(wasm))).toBe(true);
  // Without an output, it lists.
  expect(await run()).toEqual(listed);
  expect(await run("--host")).toMatchObject({ status: 1, stdout: "" });
});

test("when the connection has ended, no timer keeps the process", async () => {
  const { url } = await start("server.cjs", [await compile([])]);
  const attached = join(import.meta.dirname, "../dist/attach.js");
  const program = `
    const { attach } = require(${JSON.stringify(attached)});
    attach(${JSON.stringify(url)}).then(async (target) => {
      await target.writeDump(process.argv[1]);
      await target.writeDump(process.argv[1], { hostOutput: process.argv[1] + ".heapsnapshot" });
      await target.close();
      console.log(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length);
    });
  `;
  const args = ["--eval", program, join(folder, "ended.dump")];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe("0\n");
});

/** Whether there still is an inspector at the address that it printed. */
async function isListening(url: string): Promise<boolean> {
  expect(url).toMatch(/^ws:/);
  return await fetch(`http://${new URL(url).host}/json`).then(
    () => true,
    () => false,
  );
}

function serve(listener: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(listener);
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const address = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** A fake inspector: `answer` says what it answers to each method; undefined is no answer. */
async function inspector(answer: (method: string) => unknown) {
  const http = await serve((_, response) => {
    const { port } = http.address() as AddressInfo;
    const webSocketDebuggerUrl = `ws://127.0.0.1:${port}/x`;
    response.end(JSON.stringify([{ type: "node", webSocketDebuggerUrl }]));
  });
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket) => {
    socket.on("message", (text) => {
      const { id, method } = JSON.parse(String(text));
      const result = answer(method);
      if (result === "hang up") socket.terminate();
      else if (result !== undefined) socket.send(JSON.stringify({ id, result }));
      if (method === "Runtime.enable") {
        const context = { id: 1, name: "main" };
        const event = { method: "Runtime.executionContextCreated", params: { context } };
        socket.send(JSON.stringify(event));
      }
    });
  });
  const close = () => {
    sockets.close();
    http.close();
  };
  return { http, close };
}
