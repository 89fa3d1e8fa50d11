// Asynchronous work: how much runs at once, in which order, on which threads, and how it ends: by an abort,
// with its environment, or for lack of memory or threads.

import { execFileSync } from "node:child_process";
import { setMaxListeners } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump } from "../dist/capture.js";
import {
  analyze,
  analyzeAsync,
  analyzeFile,
  analyzeFileAsync,
  diffFileAsync,
} from "../dist/index.js";
import * as native from "../dist/native.js";
import { type ChildOptions, preamble, runScript } from "./support/child.ts";
import {
  type LeakyServer,
  leakyServer,
  type ServerExports,
  startServer,
} from "./support/leaky_server.ts";
import { rounds } from "./support/nightly.ts";
import { LINUX, WINDOWS } from "./support/system.ts";

let files: LeakyServer;
let after: Buffer;
let wasm: Buffer;
/** A dump that takes a while, and a file of it. */
let large: Uint8Array;
let largeFile: string;

beforeAll(async () => {
  files = await leakyServer();
  after = readFileSync(files.after);
  wasm = readFileSync(files.wasm);
  const exports = await startServer(new Uint8Array(wasm));
  (exports as unknown as ServerExports).serve(40_000);
  large = captureDump(exports);
  largeFile = join(mkdtempSync(join(tmpdir(), "heap-analyzer-tasks-")), "large.dump");
  writeFileSync(largeFile, large);
});

afterAll(() => {
  rmSync(dirname(largeFile), { recursive: true });
});

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "done",
    (error: Error & { code?: unknown }) => error.code,
  );
}

/** Runs `use` in a folder with pipes of these names. */
async function withPipes(names: string[], use: (...pipes: string[]) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), "heap-analyzer-tasks-"));
  try {
    const pipes = names.map((name) => join(folder, name));
    execFileSync("mkfifo", pipes);
    await use(...pipes);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Releases the reader of a pipe, if there is one. */
async function release(pipe: string): Promise<void> {
  await (await open(pipe, "r+")).close();
}

/** The output of a script, which must end by itself and print no error. */
function output(script: string, options?: ChildOptions): string {
  const { stdout, ...rest } = runScript(files, script, options);
  expect(rest).toEqual({ status: 0, signal: null, stderr: "" });
  return stdout;
}

describe("many calls at the same time", () => {
  const CALLS = rounds(2000, 300);
  const QUEUE = `
    const ended = [];
    const fs = require("fs");
    const [dump, module] = [fs.readFileSync(after), fs.readFileSync(wasm)];
    const analyses = Array.from({ length: ${CALLS} }, (_, nth) =>
      analyzeAsync(dump, module, { top: 1 }).then((view) => {
        ended.push(nth);
        return view.totalLiveSize;
      }));`;

  test("does not use the threads of libuv", () => {
    const script = `
      let ended = 0;
      const others = [];
      const other = (promise) => others.push(promise.then(() => ended));
      for (let nth = 0; nth < 500; nth++) {
        analyzeFileAsync(${JSON.stringify(largeFile)}, wasm).then(() => { ended++; });
      }
      const { promisify } = require("util");
      other(require("fs").promises.readFile(wasm));
      other(promisify(require("crypto").pbkdf2)("secret", "salt", 1, 32, "sha512"));
      other(promisify(require("dns").lookup)("localhost"));
      Promise.all(others).then((before) => {
        console.log(before.every((count) => count < 400));
        process.exit();
      });`;
    // With one thread that is busy, no other work would finish.
    expect(output(script, { env: { UV_THREADPOOL_SIZE: "1" } })).toBe("true\n");
  });

  test("gives every call its own result, approximately in the order of the calls", () => {
    // As many as there are threads may overtake each other, and a settled promise another.
    const script = `${QUEUE}
      Promise.all(analyses).then((sizes) => {
        const size = analyzeFile(after, wasm).totalLiveSize;
        const isInOrder = ended.every((nth, place) => Math.abs(nth - place) < ${CALLS / 10});
        console.log(ended.length, sizes.every((each) => each === size), isInOrder);
      });`;
    expect(output(script)).toBe(`${CALLS} true true\n`);
  });

  test.skipIf(!LINUX)("needs no more threads than one analysis of each kind", () => {
    const script = `${QUEUE}
      const threads = () => Number(/^Threads:\\s*(\\d+)/m.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]);
      let most = 0;
      const timer = setInterval(() => { most = Math.max(most, threads()); }, 1);
      Promise.all(analyses).then(() => {
        clearInterval(timer);
        const cores = require("os").availableParallelism();
        // Node's own, a thread for each core, and those that take from the queue.
        console.log(most > 0 && most <= 12 + cores + Math.min(cores, 4));
      });`;
    expect(output(script)).toBe("true\n");
  });

  test("can be aborted one by one: a waiting call is rejected before earlier calls are done", async () => {
    const order: string[] = [];
    const last = new AbortController();
    setMaxListeners(0, last.signal);
    const queue = Array.from({ length: 500 }, () =>
      codeOf(analyzeFileAsync(largeFile, files.wasm, { signal: last.signal })),
    );
    const first = Promise.race(queue.slice(400)).then(() => order.push("queue"));
    const controller = new AbortController();
    const { signal } = controller;
    setMaxListeners(0, signal);
    const aborted = Array.from({ length: 50 }, () => analyzeAsync(after, wasm, { signal }));
    controller.abort();
    const codes = await Promise.all(aborted.map(codeOf));
    order.push("aborted");
    last.abort();
    await first;
    expect(new Set(codes)).toEqual(new Set(["ABORT_ERR"]));
    expect(order).toEqual(["aborted", "queue"]);
  });
});

describe("an abort", () => {
  const PHASES = ["module", "blocks", "objects", "references", "search", "dominators", "sizes"];

  /**
   * Aborts work in a phase, and returns its code. It polls without returning to the event loop, so one of
   * a few attempts sees even a short phase.
   */
  async function abortedIn(
    phase: string,
    start: (control: native.WorkControl) => Promise<unknown>,
  ) {
    for (let attempt = 0; attempt < 1000; attempt++) {
      const control = new native.WorkControl();
      const work = codeOf(start(control));
      let seen = "module";
      while (seen !== phase && seen !== "view") seen = control.progress().phase;
      control.cancel();
      // The work may have advanced while this thread did not run.
      const isInTime = control.progress().phase === phase;
      const code = await work;
      if (isInTime) return code;
    }
    throw new Error(`the phase ${phase} was never seen`);
  }

  test.each(PHASES)("in the phase %s ends the work, and the next call works", async (phase) => {
    const analysis = (control: native.WorkControl) => native.analyze(large, wasm, {}, control);
    const comparison = (control: native.WorkControl) =>
      native.diff(after, large, wasm, {}, control);
    expect(await abortedIn(phase, analysis)).toBe("ABORT_ERR");
    expect(await abortedIn(phase, comparison)).toBe("ABORT_ERR");
    expect((await analyzeAsync(after, wasm)).totalLiveSize).toBe(
      analyze(after, wasm).totalLiveSize,
    );
  });

  test("after the end of the work has no effect", async () => {
    const controller = new AbortController();
    const view = await analyzeAsync(after, wasm, { signal: controller.signal });
    controller.abort();
    expect(view.constructors[0]?.instances.length).toBeGreaterThan(0);
  });

  test("may be repeated", async () => {
    const controller = new AbortController();
    const work = codeOf(analyzeAsync(large, wasm, { signal: controller.signal }));
    controller.abort();
    controller.abort();
    expect(await work).toBe("ABORT_ERR");
  });
});

describe.skipIf(WINDOWS)("pipes without a writer", () => {
  test("do not delay other work, and can be aborted", async () => {
    const names = Array.from({ length: 10 }, (_, nth) => `${nth}.dump`);
    await withPipes(names, async (...pipes) => {
      const controller = new AbortController();
      const { signal } = controller;
      setMaxListeners(0, signal);
      const stuck = pipes.map((pipe) => codeOf(analyzeFileAsync(pipe, files.wasm, { signal })));
      stuck.push(codeOf(diffFileAsync(files.before, pipes[0] as string, files.wasm, { signal })));
      for (let nth = 0; nth < 20; nth++) await analyzeFileAsync(files.after, files.wasm);
      controller.abort();
      expect(new Set(await Promise.all(stuck))).toEqual(new Set(["ABORT_ERR"]));
      await Promise.all(pipes.map(release));
    });
  });

  test("are read to their end after a writer opens them", async () => {
    await withPipes(["before", "after", "wasm"], async (...pipes) => {
      const work = diffFileAsync(...(pipes as [string, string, string]));
      const contents = [readFileSync(files.before), after, wasm];
      for (const [nth, pipe] of pipes.entries()) {
        const writer = await open(pipe, "w");
        await writer.writeFile(contents[nth] as Buffer);
        await writer.close();
      }
      const expected = await diffFileAsync(files.before, files.after, files.wasm);
      expect(JSON.stringify(await work)).toBe(JSON.stringify(expected));
    });
  });

  test("are refused as two inputs of one call", async () => {
    await withPipes(["one"], async (pipe) => {
      const work = diffFileAsync(pipe, pipe, files.wasm);
      await expect(work).rejects.toMatchObject({
        code: "ERR_SAME_PIPE",
        message: expect.stringContaining("a pipe can be read only once"),
      });
      expect(() => analyzeFile(pipe, pipe)).toThrow(
        expect.objectContaining({ code: "ERR_SAME_PIPE" }),
      );
    });
  });

  test("do not hide an error of the other file", async () => {
    await withPipes(["a.dump"], async (pipe) => {
      expect(await codeOf(analyzeFileAsync(pipe, "no.wasm"))).toBe("ERR_IO");
    });
  });

  test("do not keep the process alive after an abort", async () => {
    await withPipes(["a.dump"], async (pipe) => {
      const script = `
        const controller = new AbortController();
        const work = analyzeFileAsync(${JSON.stringify(pipe)}, wasm, { signal: controller.signal });
        setTimeout(() => controller.abort(), 20);
        work.catch((error) => console.log(error.code));`;
      expect(output(script)).toBe("ABORT_ERR\n");
    });
  });
});

describe("environments", () => {
  /** A worker that reports when it has started this number of tasks. */
  const worker = (work: string) =>
    JSON.stringify(`${preamble(files)}
      const { parentPort, workerData } = require("worker_threads");
      ${work}
      parentPort.postMessage("busy");`);

  test("may end during their work, eight worker threads at a time", () => {
    const script = `
      const { Worker } = require("worker_threads");
      const code = ${worker(`
        for (let nth = 0; nth < 5; nth++) {
          analyzeFileAsync(after, wasm).then(() => parentPort.postMessage("done"));
          diffFileAsync(before, after, wasm, { onProgress() {} });
          analyzeAsync(new Uint8Array(9), new Uint8Array(9)).catch(() => {});
        }`)};
      const one = () => new Promise((over, fail) => {
        const worker = new Worker(code, { eval: true });
        worker.once("message", () => worker.terminate());
        worker.on("error", fail).on("exit", over);
      });
      (async () => {
        for (let round = 0; round < ${rounds(25, 3)}; round++) {
          await Promise.all(Array.from({ length: 8 }, one));
        }
        const view = await analyzeFileAsync(after, wasm);
        console.log(view.totalLiveSize === analyzeFile(after, wasm).totalLiveSize);
      })();`;
    expect(output(script)).toBe("true\n");
  });

  test("cancel their waiting work when they end", () => {
    // Far more than could be done before the test is over.
    const script = `
      const { Worker } = require("worker_threads");
      const code = ${worker(`
        for (let nth = 0; nth < 4000; nth++) diffFileAsync(workerData, workerData, wasm);`)};
      const busy = new Worker(code, { eval: true, workerData: ${JSON.stringify(largeFile)} });
      busy.once("message", async () => {
        await busy.terminate();
        await analyzeFileAsync(after, wasm);
        console.log("next");
      });`;
    expect(output(script)).toBe("next\n");
  });

  test("may be the only ones that loaded the addon", () => {
    const script = `
      const { Worker } = require("worker_threads");
      const code = ${worker(`
        analyzeFile(after, wasm).constructors[0].instances;
        analyzeFileAsync(after, wasm).then(() => parentPort.postMessage("done"));`)};
      let left = 5;
      const next = () => new Worker(code, { eval: true }).on("exit", () => {
        if (--left > 0) next();
        // The threads of the addon are still there, and so must be its code.
        else setTimeout(() => console.log("alive"), 200);
      });
      next();`;
    expect(output(script, { bare: true })).toBe("alive\n");
  });
});

describe.skipIf(!LINUX)("a system that refuses", () => {
  /** Without it, the C library gives each thread 64 MiB of addresses to begin with. */
  const ONE_ARENA = { MALLOC_ARENA_MAX: "1" };

  test("threads causes an error with a code", () => {
    const script = `
      const codes = [];
      const keep = (error) => codes.push(error.code);
      try { analyzeFile(after, wasm); } catch (error) { keep(error); }
      const work = [analyzeFileAsync(after, wasm), diffFileAsync(before, after, wasm)];
      Promise.allSettled(work).then((all) => {
        all.forEach(({ reason }) => keep(reason));
        console.log(...codes);
      });`;
    // More of a stack than there are addresses.
    const env = { RUST_MIN_STACK: String(2 ** 50) };
    expect(output(script, { env })).toBe("ERR_NO_THREADS ERR_NO_THREADS ERR_NO_THREADS\n");
  });

  test("some of the threads gets the same result with fewer threads", () => {
    const script = "console.log(analyzeFile(after, wasm).totalLiveSize);";
    const env = { ...ONE_ARENA, RAYON_NUM_THREADS: "100000" };
    const options = { env, addressSpace: 2 << 20 };
    expect(output(script, options)).toBe(`${analyze(after, wasm).totalLiveSize}\n`);
  });

  test("does not start thousands of threads, for any RAYON_NUM_THREADS", () => {
    const script = `
      analyzeFile(after, wasm);
      const fs = require("fs");
      const names = fs.readdirSync("/proc/self/task").map((id) => fs.readFileSync(\`/proc/self/task/\${id}/comm\`, "utf8"));
      const most = Math.max(16, require("os").availableParallelism());
      console.log(names.filter((name) => name.startsWith("heap-analyzer-")).length <= most);`;
    expect(output(script, { env: { RAYON_NUM_THREADS: "5000" } })).toBe("true\n");
  });

  /** Attempts of every kind, one after another; each ends in a code, and so does the process. */
  const ATTEMPTS = `
    const fs = require("fs");
    const [file] = [LARGE];
    const bytes = [fs.readFileSync(file), fs.readFileSync(wasm)];
    const read = (view) => { for (const row of view.constructors) row.instanceColumns; };
    const attempts = [
      () => analyzeFile(file, wasm),
      () => analyze(...bytes),
      () => analyzeFileAsync(file, wasm),
      () => analyzeAsync(...bytes),
      () => diffFile(after, file, wasm),
      () => diffFileAsync(file, file, wasm),
    ];
    (async () => {
      const outcomes = [];
      for (const attempt of attempts) {
        try { read(await attempt()); outcomes.push("done"); }
        catch (error) { outcomes.push(error.code ?? String(error)); }
        global.gc();
      }
      console.log(...outcomes);
    })();`;

  test("memory at any moment causes an error with a code, and the process continues", () => {
    const script = ATTEMPTS.replace("LARGE", JSON.stringify(largeFile));
    const size = `console.log(/^VmPeak:\\s*(\\d+)/m.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[1]);`;
    const options = { flags: ["--expose-gc"], env: ONE_ARENA };
    const idle = Number(runScript(files, size, options).stdout);
    const seen = new Set<string>();
    for (let more = 16; more <= 160; more += rounds(12, 36)) {
      const { stdout, ...rest } = runScript(files, script, {
        ...options,
        addressSpace: idle + more * 1024,
      });
      expect({ more, ...rest }).toEqual({ more, status: 0, signal: null, stderr: "" });
      for (const outcome of stdout.trim().split(" ")) seen.add(outcome);
    }
    expect([...seen].sort()).toEqual(["ERR_OUT_OF_MEMORY", "done"]);
  });
});
