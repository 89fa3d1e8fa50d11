/**
 * What inspectors and processes did that were attached to: to this process, to its files, and to its time. Each test has
 * one attack. The inspector is `support/lying_inspector.ts`, which tells the truth except for the lie of the test.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeHostSnapshot } from "../dist/attach/host_snapshot.js";
import { failureOf, runIn } from "./support/command_line.ts";
import {
  type Beginnings,
  type Called,
  type Lies,
  lyingInspector,
  NO_ANSWER,
  type Say,
  writeHonestly,
  wrote,
} from "./support/lying_inspector.ts";

const PAGE = 65_536;
/** An error of this package. */
const CODED = { code: expect.stringMatching(/^(ERR_|ABORT_)/) };

let folder: string;
const running: ChildProcess[] = [];
const open: { close(): void }[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attach-hostile-"));
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  for (const one of open) one.close();
  rmSync(folder, { recursive: true, force: true });
});

async function inspector(lies: Lies, beginnings?: Beginnings) {
  const server = await lyingInspector(lies, beginnings);
  open.push(server);
  return server;
}

/** Takes a dump from a lying inspector, into a folder of its own. */
async function take(lies: Lies, limits: { timeout?: number; deadline?: number } = {}) {
  const { url } = await inspector(lies);
  const inside = mkdtempSync(join(folder, "out-"));
  const path = join(inside, "x.dump");
  const target = await attach(url, limits);
  try {
    await target.writeDump(path);
    return path;
  } catch (error) {
    expect(readdirSync(inside)).toEqual([]);
    throw error;
  } finally {
    await target.close();
  }
}

/** Attaches with short limits, and expects an error with a code. */
async function refused(lies: Lies, beginnings?: Beginnings) {
  const { url } = await inspector(lies, beginnings);
  const attached = attach(url, { timeout: 300, deadline: 1500 });
  return await attached.then(
    () => expect.unreachable(),
    (error) => {
      expect(error).toMatchObject(CODED);
      expect(error.message.length).toBeLessThan(1000);
      return error as { code: string; message: string };
    },
  );
}

/** Lies about one method. */
const about = (method: string, lie: (call: Called, say: Say) => unknown): Lies => ({
  answer: (call, say) => (call.method === method ? lie(call, say) : undefined),
});

test.each([{ isPage: false }, { isPage: true }])(
  "without a lie, a dump is written: %o",
  async (lies) => {
    const bytes = readFileSync(await take(lies));
    expect([bytes.readUInt32LE(20), bytes.readUInt32LE(24)]).toEqual([1, 42]);
    expect(bytes).toHaveLength(28 + PAGE);
    expect(bytes.subarray(28).every((byte) => byte === 7)).toBe(true);
  },
);

describe.skipIf(process.platform !== "linux")("a process", () => {
  /** A program of the system under another name. */
  function disguised(name: string): string {
    const path = join(mkdtempSync(join(folder, "program-")), name);
    copyFileSync("/bin/sleep", path);
    return path;
  }

  function start(program: string, ...args: string[]): ChildProcess {
    const child = spawn(program, args);
    running.push(child);
    return child;
  }

  test.each(["node_exporter", "MainThread", "node-MainThread", "node", "node-22"])(
    "that is not Node and is called %s gets no signal",
    async (name) => {
      const child = start(disguised(name), "100");
      await once(child, "spawn");
      await expect(attach(child.pid as number, { inspector: true })).rejects.toMatchObject({
        code: "ERR_ATTACH_TARGET",
        message: expect.stringMatching(/not Node$/),
      });
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    },
  );

  test("that does not handle the signal gets none, also if its program looks like Node", async () => {
    const path = disguised("node");
    appendFileSync(path, "Debugger listening on %s");
    const child = start(path, "100");
    await once(child, "spawn");
    await expect(attach(child.pid as number, { inspector: true })).rejects.toMatchObject({
      message: expect.stringContaining("does not handle SIGUSR1"),
    });
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
  });

  test("of Node gets no signal without the option, and the error says how to open its inspector", async () => {
    const program =
      'process.on("SIGUSR1", () => console.log("signal")); process.stdin.pipe(process.stdout)';
    const child = start(process.execPath, "--eval", program);
    const hear = async () => String((await once(child.stdout as NodeJS.ReadableStream, "data"))[0]);
    child.stdin?.write("started");
    await hear();
    await expect(attach(child.pid as number)).rejects.toMatchObject({
      code: process.platform === "linux" ? "ERR_OUTSIDE_MEMORY" : "ERR_INSPECTOR_CLOSED",
      advice: expect.stringContaining("inspector: true opens"),
    });
    const { stderr } = runIn(folder, ["attach", String(child.pid), "--list"]);
    expect(stderr).toMatch(/--inspector opens (it|the inspector) by the signal SIGUSR1/);
    expect(stderr).toContain("node --inspect=127.0.0.1:0");
    child.stdin?.write("no signal came before this");
    expect(await hear()).toBe("no signal came before this");
  });

  test("whose port is in use gets no signal, and the error names the port and what helps", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const child = start(
      process.execPath,
      `--inspect-port=${port}`,
      "--eval",
      "process.stdin.pipe(process.stdout)",
    );
    child.stdin?.write("started");
    await once(child.stdout as NodeJS.ReadableStream, "data");
    const { message } = await attach(child.pid as number, { inspector: true }).catch(
      (error) => error,
    );
    expect(message).toContain(`port ${port}, which it would take, is in use by another program`);
    expect(message).toContain("--inspect-port=0");
    other.close();
  });

  test.each([0, 1, -1, 1.5, 2 ** 31, Number.NaN, "0", "1", String(process.pid), "99999999999"])(
    "that cannot be attached to is an error with a code: %j",
    async (pid) => {
      await expect(attach(pid, { inspector: true })).rejects.toMatchObject({
        code: "ERR_ATTACH_TARGET",
      });
    },
  );
});

describe("the file into which a target writes its memory", () => {
  /** A file that the target would like to change. */
  function victim(): { path: string; isUnchanged(): boolean } {
    const path = join(mkdtempSync(join(folder, "victim-")), "file");
    writeFileSync(path, Buffer.alloc(28 + PAGE, "V"));
    const hash = () => createHash("sha256").update(readFileSync(path)).digest("hex");
    const before = hash();
    return { path, isUnchanged: () => hash() === before };
  }

  const ATTACKS: Record<string, (path: string, victim: string) => void> = {
    "a symbolic link": (path, victim) => {
      rmSync(path);
      symlinkSync(victim, path);
    },
    "a hard link": (path, victim) => {
      rmSync(path);
      linkSync(victim, path);
    },
    "a folder": (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    "another file": (path) => {
      rmSync(path);
      writeFileSync(path, Buffer.alloc(28 + PAGE));
    },
    "in a folder that is a link": (path, victim) => {
      rmSync(dirname(path), { recursive: true });
      symlinkSync(dirname(victim), dirname(path));
      renameSync(victim, join(dirname(victim), "memory"));
      copyFileSync(join(dirname(victim), "memory"), victim);
    },
    "too short": (path) => writeFileSync(path, "x"),
    "too long": (path) => writeFileSync(path, Buffer.alloc(29 + PAGE)),
  };
  test.each(Object.keys(ATTACKS))(
    "may become %s: no other file is read or written",
    async (name) => {
      const { path, isUnchanged } = victim();
      const write = (file: string) => {
        ATTACKS[name]?.(file, path);
        return wrote();
      };
      await expect(take({ write })).rejects.toMatchObject({ code: "ERR_ATTACH_ANSWER" });
      expect(isUnchanged()).toBe(true);
    },
  );

  test("gives the dump neither its mode, nor a second name, nor what is written later", async () => {
    let late = 0;
    const second = join(folder, "second");
    const write = (path: string, offset: number) => {
      const answer = writeHonestly(path, offset);
      chmodSync(path, 0o666);
      linkSync(path, second);
      late = openSync(path, "r+");
      return answer;
    };
    const dump = await take({ write });
    const before = readFileSync(dump);
    writeSync(late, "later", 0);
    closeSync(late);
    expect(readFileSync(dump).equals(before)).toBe(true);
    expect(lstatSync(dump).isFile()).toBe(true);
    expect(statSync(dump).nlink).toBe(1);
    if (process.platform !== "win32") expect(statSync(dump).mode & 0o777).toBe(0o600);
    expect(statSync(second).ino).not.toBe(statSync(dump).ino);
  });

  test("need not be written: what cannot be opened travels over the connection", async () => {
    const write = () => ({ result: { type: "object", value: { unwritable: true } } });
    expect(readFileSync(await take({ write }))).toHaveLength(28 + PAGE);
  });
});

describe("a time limit is kept", () => {
  /** Says one byte now and then, until the connection ends. */
  const drip = (
    say: (piece: string) => unknown,
    socket: { once(event: "close", end: () => void): unknown },
  ) => {
    const timer = setInterval(() => say(" "), 50);
    socket.once("close", () => clearInterval(timer));
  };

  const BEGINNINGS: Record<string, Beginnings> = {
    "the list comes byte by byte": {
      list: (request, response) => {
        response.writeHead(200);
        drip((piece) => response.write(piece), request.socket);
      },
    },
    "the handshake comes byte by byte": {
      upgrade: (_, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nX: ");
        drip((piece) => socket.write(piece), socket);
      },
    },
    "there is no handshake": { upgrade: () => {} },
    "a message comes byte by byte": {
      connected: (socket) => drip((piece) => socket.send(piece, { fin: false }), socket),
    },
    "events come without an end": {
      connected: (socket) => {
        const context = { id: 1, name: "x".repeat(10_000) };
        const event = JSON.stringify({
          method: "Runtime.executionContextCreated",
          params: { context },
        });
        drip(() => socket.send(event), socket);
      },
    },
    "pings come, and no answer is read": {
      connected: (socket) => drip(() => socket.ping("x".repeat(100)), socket),
    },
  };
  test.each(Object.keys(BEGINNINGS))("if %s", async (name) => {
    const silent: Lies = { answer: () => NO_ANSWER };
    const { code } = await refused(silent, BEGINNINGS[name]);
    expect(code).toBe("ERR_ATTACH_TIMEOUT");
  });

  test("if each answer is slow, and there are many", async () => {
    const slow: Lies = {
      answer: (call, say) => {
        if (/this\.length/.test(call.params.functionDeclaration)) {
          return { id: call.id, result: { result: { value: 10_000 } } };
        }
        if (call.params.objectId !== "found") return undefined;
        setTimeout(
          () => say.raw(JSON.stringify({ id: call.id, result: { result: { objectId: "1" } } })),
          100,
        );
        return NO_ANSWER;
      },
    };
    const { code, message } = await refused(slow);
    expect(code).toBe("ERR_ATTACH_TIMEOUT");
    expect(message).toContain("for everything");
  });

  test("if a thousand threads are silent: they wait together, and are left out", async () => {
    const { url } = await inspector(
      about("NodeWorker.enable", ({ id }, say) => {
        for (let nth = 0; nth < 1000; nth++) {
          say.event("NodeWorker.attachedToWorker", {
            sessionId: `s${nth}`,
            workerInfo: { title: "w" },
          });
        }
        return { id, result: {} };
      }),
    );
    const target = await attach(url, { timeout: 2000 });
    expect(target.instances.map(({ thread }) => thread)).toEqual(["main"]);
    await target.close();
  });

  test("if an instance has functions without an end, of which none is of a module", async () => {
    const strange = about("Debugger.enable", ({ id }) => ({ id, result: {} }));
    const { url } = await inspector(strange);
    const target = await attach(url);
    expect(target.instances).toEqual([]);
    expect(target.whyNone).toContain("no function that says what module");
    await target.close();
  });

  test.each([0, -1, 0.5, 2 ** 31, Number.POSITIVE_INFINITY, Number.NaN])(
    "and one of %d ms is refused",
    async (time) => {
      for (const limits of [{ timeout: time }, { deadline: time }]) {
        await expect(attach("http://127.0.0.1:1", limits)).rejects.toMatchObject({
          code: "ERR_INVALID_OPTION",
        });
      }
      const args = ["attach", "http://127.0.0.1:1", "--list", "--timeout", "2147484"];
      expect(failureOf(runIn(folder, args))).toContain("--timeout");
    },
  );

  test("an abort ends it at once, at any moment", async () => {
    for (const method of [
      "Runtime.getHeapUsage",
      "Runtime.queryObjects",
      "Debugger.getScriptSource",
    ]) {
      const stop = new AbortController();
      const { url } = await inspector(
        about(method, () => {
          stop.abort();
          return NO_ANSWER;
        }),
      );
      const work = async () => {
        const target = await attach(url, { signal: stop.signal });
        await target.writeDump(join(folder, "aborted.dump"));
      };
      await expect(work()).rejects.toMatchObject({ code: "ABORT_ERR", name: "AbortError" });
    }
    const aborted = attach("http://127.0.0.1:1", { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "ABORT_ERR" });
  });
});

describe("a message", () => {
  const answering = (text: (id: number) => string): Lies =>
    about("Runtime.getHeapUsage", ({ id }, say) => {
      say.raw(text(id));
      return NO_ANSWER;
    });
  const MESSAGES: Record<string, (id: number) => string> = {
    "millions of objects": (id) => `{"id":${id},"result":[${"{},".repeat(3e6)}{}]}`,
    "a deep nesting": (id) => `{"id":${id},"result":${"[".repeat(5e6)}${"]".repeat(5e6)}}`,
    "an error that is no text, and cannot become one": (id) =>
      JSON.stringify({ id, error: { message: { toString: 1, valueOf: 2 } } }),
    "an error that is null": (id) => `{"id":${id},"error":null}`,
    "an error without an end": (id) =>
      JSON.stringify({ id, error: { message: "\u{1b}".repeat(1e6) } }),
    "no value": () => "null",
    "a list": () => "[]",
    "not JSON": () => "{",
    "the answer of another call": (id) => `{"id":"${id}","result":{}}`,
  };
  test.each(Object.keys(MESSAGES))("of %s is an error with a code", async (name) => {
    const { message } = await refused(answering(MESSAGES[name] as (id: number) => string));
    expect(message).not.toContain("\u{1b}");
  });

  test("that is binary, or names __proto__, is no other", async () => {
    await refused({}, { connected: (socket) => socket.send(Buffer.from([255, 254, 0, 1])) });
    const proto = answering((id) => `{"id":${id},"result":{"__proto__":{"usedSize":1}}}`);
    const { url } = await inspector(proto);
    await (await attach(url)).close();
    expect(Object.hasOwn(Object.prototype, "usedSize")).toBe(false);
  });
});

describe("the list of targets", () => {
  const LISTS: Record<string, (port: number) => string> = {
    "is no list": () => '{"length":1e9,"0":{"type":"node"}}',
    "is deep": () => "[".repeat(1e6) + "]".repeat(1e6),
    "has a million entries": () => `[${"{},".repeat(1e6)}{}]`,
    "is larger than its bound": () => `[${" ".repeat(5e6)}]`,
    "names another machine": (port) =>
      JSON.stringify([{ webSocketDebuggerUrl: `ws://8.8.8.8:${port}/x` }]),
    "names another port": () => JSON.stringify([{ webSocketDebuggerUrl: "ws://127.0.0.1:1/x" }]),
    "names a socket of the system": (port) =>
      JSON.stringify([{ webSocketDebuggerUrl: `ws+unix://127.0.0.1:${port}/tmp/x.sock:/x` }]),
    "has an object for an address": () => '[{"type":"node","webSocketDebuggerUrl":{"toString":1}}]',
    "is not JSON": () => "<html>",
  };
  test.each(Object.keys(LISTS))("that %s is an error with a code", async (name) => {
    await refused({}, { list: (_, response, port) => response.end(LISTS[name]?.(port)) });
  });

  test("may have pages without an address, to which others are attached: they are passed over", async () => {
    const named = (...pages: object[]): Beginnings => ({
      list: (_, response, port) => {
        const webSocketDebuggerUrl = `ws://127.0.0.1:${port}/x`;
        const free = pages.map((page) =>
          "free" in page ? { ...page, webSocketDebuggerUrl } : page,
        );
        response.end(JSON.stringify(free));
      },
    });
    const { url } = await inspector({}, named({ type: "page" }, { type: "page", free: true }));
    const target = await attach(url);
    expect(target.instances).toHaveLength(1);
    await target.close();
    const { message } = await refused({}, named({ type: "page" }, { type: "page" }));
    expect(message).toContain("lists only what others are attached to");
  });

  test("with several pages is a question which one, and none is taken silently", async () => {
    let connections = 0;
    const listing = (count: number): Beginnings => ({
      list: (_, response, port) => {
        const pages = Array.from({ length: count }, (_, nth) => ({
          type: "page",
          title: nth === 0 ? "\u{1b}[2J\nShop" : `page ${nth}`,
          webSocketDebuggerUrl: `ws://127.0.0.1:${port}/page/${nth}`,
        }));
        const worker = { type: "worker", webSocketDebuggerUrl: `ws://127.0.0.1:${port}/w` };
        response.end(JSON.stringify([worker, ...pages]));
      },
      connected: () => {
        connections++;
      },
    });
    const { code, message } = await refused({}, listing(7));
    expect(code).toBe("ERR_ATTACH_TARGET");
    expect(message).toMatch(/lists 7 pages or processes: choose one by its address: "ws:/);
    expect(message).toMatch(
      /\/page\/0" \("\\\\u\{1b\}\[2J\\\\nShop"\).*\/page\/4" .*, and 2 more$/,
    );
    expect(connections).toBe(0);
    // A worker beside the only page is no choice.
    const { url } = await inspector({ isPage: true }, listing(1));
    const target = await attach(url);
    expect([target.instances.length, connections]).toEqual([1, 1]);
    await target.close();
  });

  test("gives a path, and neither a user nor a fragment", async () => {
    const { url } = await inspector(
      {},
      {
        list: (_, response, port) => {
          const webSocketDebuggerUrl = `ws://user:word@127.0.0.1:${port}/../x?y#z`;
          response.end(JSON.stringify([{ type: "node", webSocketDebuggerUrl }]));
        },
      },
    );
    const target = await attach(url);
    expect(target.instances).toHaveLength(1);
    await target.close();
  });

  test.each([
    "ws://127.0.0.1:1/#x",
    "ws://u:p@127.0.0.1:1/",
    "ws://127.0.0.1:99999/",
    "http://[",
    "ws://127.0.0.1:1/\0",
  ])("need not be asked for an address that is none: %j", async (address) => {
    await expect(attach(address)).rejects.toMatchObject({ code: "ERR_ATTACH_TARGET" });
  });
});

test("a heap snapshot without an end is refused at its bound, and no file is left", async () => {
  const inside = mkdtempSync(join(folder, "endless-"));
  let [sent, isOver] = [0, false];
  let hear = (_: { chunk: string }) => {};
  const session = {
    on: (_: string, listener: typeof hear) => {
      hear = listener;
      return () => {};
    },
    renew: () => {},
    abandon: () => {
      isOver = true;
    },
    call: async () => {
      for (; !isOver; sent++) hear({ chunk: "x".repeat(1000) });
      throw new Error("the connection is closed");
    },
  };
  const written = writeHostSnapshot(session as never, join(inside, "x.heapsnapshot"), 100_000);
  await expect(written).rejects.toMatchObject({ message: expect.stringContaining("100000 bytes") });
  expect(sent).toBe(101);
  expect(readdirSync(inside)).toEqual([]);
});

test("names of the target are printed on one line each, without a control character", async () => {
  const { url } = await inspector({
    realm: "\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e}\u{9b}31m",
    module: "wasm://\u{1b}[2J/\nFAKE ROW",
  });
  const args = ["attach", url, "--list"];
  // Not in this process, which has to answer.
  const child = spawn(process.execPath, [
    join(import.meta.dirname, "../dist/heap_analyzer/cli.js"),
    ...args,
  ]);
  let text = "";
  child.stdout.on("data", (piece) => {
    text += piece;
  });
  await once(child, "close");
  expect(text.split("\n")).toHaveLength(2);
  expect(text).toMatch(/^0 {2}64\.0 KiB {2}main {2}\\u\{1b\}\[31mred[ -~]*\n$/);
  expect(text).toContain("\\u{1b}[2J/\\nFAKE ROW");
});

describe("a page", () => {
  const COPIES: Record<string, object> = {
    "that is outside of the memory": { numbers: [1] },
    "that comes twice": { size: 2 * PAGE, numbers: [1, 1] },
    "whose number is no whole one": { size: 2 * PAGE, numbers: [0.5] },
    "of a memory that is no whole number of pages": { size: PAGE + 1 },
    "of a memory of more than 4 GiB": { size: 2 ** 32 + PAGE },
    "of a memory of less than nothing": { size: -PAGE },
    "with too many globals": { values: [1, 2] },
    "with a global that is no number": { values: [null] },
  };
  test.each(Object.keys(COPIES))("%s is an error", async (name) => {
    const copied = { values: [42], size: PAGE, time: 1, numbers: [0], ...COPIES[name] };
    const lie: Lies = {
      isPage: true,
      answer: ({ id, params }) =>
        /numbers: this\.numbers/.test(params.functionDeclaration)
          ? { id, result: { result: { value: copied } } }
          : undefined,
    };
    await expect(take(lie)).rejects.toMatchObject({ code: "ERR_ATTACH_ANSWER" });
  });
});
