// The addon in a process: several threads, several copies of it, and processes that end early.

import { beforeAll, expect, inject, test } from "vitest";
import { node, nodeOutput, npm, project } from "./machine.ts";

const { wasm, after } = inject("server");
let folder: string;

beforeAll(() => {
  folder = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: folder });
});

const run = (script: string, ...args: string[]) =>
  nodeOutput(["-e", script, ...args], { cwd: folder });

const FILES = `const [dump, wasm] = [${JSON.stringify(after)}, ${JSON.stringify(wasm)}];`;
/** In the worker threads, too. */
const SIZE = `${FILES} const { analyzeFile, analyzeFileAsync } = require("@warpo/heap-analyzer");
  const size = () => analyzeFile(dump, wasm).totalLiveSize;`;

test("worker threads and the main thread use it, one after another and at the same time", () => {
  const script = `${SIZE}
    const { Worker } = require("worker_threads");
    const work = ${JSON.stringify(
      `${SIZE} require("worker_threads").parentPort.postMessage(size());
       analyzeFileAsync(dump, wasm).then((view) =>
         require("worker_threads").parentPort.postMessage(view.totalLiveSize));`,
    )};
    const answers = () => new Promise((done, fail) => {
      const messages = [];
      new Worker(work, { eval: true })
        .on("message", (message) => messages.push(message))
        .on("error", fail)
        .on("exit", () => done(messages));
    });
    (async () => {
      const all = [await answers(), await answers(), ...(await Promise.all([answers(), answers()]))];
      console.log(all.length, all.flat().length, all.flat().every((each) => each === size()));
    })();`;
  expect(run(script)).toBe("4 8 true\n");
});

test("a worker thread that only loads it ends by itself", () => {
  const script = `
    const { Worker } = require("worker_threads");
    new Worker('require("@warpo/heap-analyzer")', { eval: true }).on("exit", (code) => console.log(code));`;
  expect(run(script)).toBe("0\n");
});

test("two copies of it in one process work side by side", () => {
  const other = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: other });
  const script = `
    const { createRequire } = require("module");
    ${FILES}
    const [first, second] = process.argv.slice(1).map((from) =>
      createRequire(from + "/")("@warpo/heap-analyzer"));
    const sizes = () => [first, second].map((copy) => copy.analyzeFile(dump, wasm).totalLiveSize);
    const binaries = Object.keys(require.cache).filter((file) => file.endsWith(".node"));
    Promise.all([first, second].map((copy) => copy.analyzeFileAsync(dump, wasm))).then((views) => {
      const all = [...sizes(), ...views.map((view) => view.totalLiveSize)];
      console.log(first === second, binaries.length, new Set(all).size);
      try { second.analyze(new Uint8Array(8), new Uint8Array(8)); } catch (error) { console.log(error.code); }
    });`;
  expect(run(script, folder, other)).toBe("false 2 1\nERR_MODULE\n");
});

const BUSY = `${SIZE} const work = Array.from({ length: 200 }, () => analyzeFileAsync(dump, wasm));`;

test.each([
  ["process.exit", `${BUSY} process.exit(7);`],
  ["process.exit in the first answer", `${BUSY} work[0].then(() => process.exit(7));`],
  [
    "an uncaught exception",
    `${BUSY} process.on("uncaughtException", () => process.exit(7)); throw new Error("over");`,
  ],
])("the process ends while async work runs, by %s", (_, script) => {
  const { status, signal, stderr } = node(["-e", script], { cwd: folder });
  expect({ status, signal, stderr }).toEqual({ status: 7, signal: null, stderr: "" });
});

test("a worker thread is terminated while its async work runs, and the others continue", () => {
  const script = `${SIZE}
    const { Worker } = require("worker_threads");
    const busy = ${JSON.stringify(`${BUSY} require("worker_threads").parentPort.postMessage("busy");`)};
    const worker = new Worker(busy, { eval: true });
    worker.on("message", async () => {
      await worker.terminate();
      console.log(size() === (await analyzeFileAsync(dump, wasm)).totalLiveSize);
    });`;
  expect(run(script)).toBe("true\n");
});

test("work without an await is finished before the process ends by itself", () => {
  const script = `${BUSY} let left = 200;
    for (const each of work) each.then(() => { if (--left === 0) console.log("all"); });`;
  expect(run(script)).toBe("all\n");
});
