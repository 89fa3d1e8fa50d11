/**
 * What the package promises on every platform, with nothing but Node and the installed package: `node suite.mjs`, in the folder
 * with `node_modules`, `server.wasm` and `run-server.mjs`. `.ci/platforms/run.mjs` makes the folder.
 *
 * The answers must be those of the machine that made the folder (`expected.json`). `--write` writes these.
 *
 * `NODE_COMMAND` starts Node, as a list in JSON, where it is not only `process.execPath`: in an emulator.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { after as afterAll, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

const require = createRequire(import.meta.url);
// The least Node has no `import.meta.dirname`.
const HERE = dirname(fileURLToPath(import.meta.url));
const WASM = join(HERE, "server.wasm");
const PACKAGE = join(HERE, "node_modules/@warpo/heap-analyzer");
const CLI = join(PACKAGE, "dist/heap_analyzer/cli.js");
const [PROGRAM, ...BEFORE] = JSON.parse(process.env.NODE_COMMAND ?? "null") ?? [process.execPath];
const isWindows = process.platform === "win32";
/** A spawned program may take this long; in an emulator, Node needs seconds to start. */
const PATIENCE = 240_000;

/** Paths with spaces and Unicode are in every test. */
const FOLDER = join(tmpdir(), `heap analyzer ${process.pid} – ü 堆 🎉`);
const DUMPS = join(FOLDER, "dumps");
mkdirSync(DUMPS, { recursive: true });
afterAll(() => rmSync(FOLDER, { recursive: true, force: true, maxRetries: 5 }));
const [before, after] = ["1 before.dump", "2 äfter.dump"].map((name) => join(DUMPS, name));

let analyzer;
const answers = {};

test("the binary of this platform loads", () => {
  analyzer = require("@warpo/heap-analyzer");
  assert.ok(require.resolve("@warpo/heap-analyzer").startsWith(PACKAGE), "another package");
  const binaries = Object.keys(require.cache).filter((file) => file.endsWith(".node"));
  assert.equal(binaries.length, 1);
  console.log(`# ${binaries[0].split(sep).at(-1)}`);
});

test("a program's memory is captured", async () => {
  const { exposeGlobals, writeDump, captureDump } = require("@warpo/heap-analyzer/capture");
  const env = { abort() {} };
  const { instance } = await WebAssembly.instantiate(exposeGlobals(readFileSync(WASM)), { env });
  const program = instance.exports;
  for (const [file, requests] of [
    [before, 40],
    [after, 120],
  ]) {
    program.serve(requests);
    program.__collect();
    writeDump(program, file);
    assert.deepEqual(readFileSync(file), Buffer.from(captureDump(program)));
  }
  answers.dumps = [before, after].map((file) => digest(readFileSync(file)));
});

test("dumps are analyzed and compared, from files and from bytes, at once and later", async () => {
  const { analyze, analyzeFile, analyzeFileAsync, diff, diffFileAsync } = analyzer;
  const [wasm, first, last] = [WASM, before, after].map((file) => readFileSync(file));
  const views = [
    analyze(last, wasm),
    analyzeFile(after, WASM),
    await analyzeFileAsync(after, WASM),
  ];
  const [one, two, three] = views.map(({ constructors }) => constructors);
  assert.ok(one.length > 5);
  assert.deepEqual(two, one);
  assert.deepEqual(three, one);
  const grown = diff(first, last, wasm).constructors;
  assert.deepEqual((await diffFileAsync(before, after, WASM)).constructors, grown);
  Object.assign(answers, { analysis: one, comparison: grown });
});

test("an opened heap answers questions", async () => {
  const { openHeapFile, openHeapFileAsync } = analyzer;
  const heap = await openHeapFileAsync(after, WASM);
  const earlier = openHeapFile(before, WASM);
  answers.summary = heap.summary();
  answers.suspects = heap.suspects({ before: earlier });
  const found = await heap.findAsync({ where: "retainedSize > 1000 && !has(this.nothing)" });
  answers.found = found.objects.map(({ address, retainedSize }) => [address, retainedSize]);
  assert.ok(answers.found.length > 3);
  const largest = found.objects[0].address;
  answers.path = heap.paths(largest);
  answers.dominated = heap.dominators({ address: largest });
  answers.waste = heap.waste();
  answers.unreachable = heap.unreachable();
  const pieces = [];
  for await (const piece of heap.export("heapsnapshot")) pieces.push(piece);
  answers.snapshot = digest(Buffer.concat(pieces));
  heap.close();
  assert.throws(() => heap.summary(), { code: "ERR_HEAP_CLOSED" });
  earlier.close();
});

test("a worker thread analyzes", async () => {
  const script = `const { workerData, parentPort } = require("worker_threads");
    const [name, ...files] = workerData;
    parentPort.postMessage(require(name).analyzeFile(...files).totalLiveSize);`;
  const worker = new Worker(script, { eval: true, workerData: [PACKAGE, after, WASM] });
  // Both can come at once.
  const [[size], [code]] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
  assert.deepEqual([size, code], [analyzer.analyzeFile(after, WASM).totalLiveSize, 0]);
});

test("an abort is answered", async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(analyzer.analyzeFileAsync(after, WASM, { signal }), { name: "AbortError" });
});

test("a broken dump, a missing file and a dump that changed are refused", () => {
  const { analyze, analyzeFile, openHeapFile } = analyzer;
  const bytes = readFileSync(after);
  const cut = bytes.subarray(0, 10);
  assert.throws(() => analyze(cut, readFileSync(WASM)), { code: "ERR_DUMP_TRUNCATED" });
  const missing = () => analyzeFile(join(FOLDER, "no dump"), WASM);
  assert.throws(missing, ({ code, cause }) => code === "ERR_IO" && cause.code === "ENOENT");
  const changing = join(FOLDER, "changing.dump");
  copyFileSync(after, changing);
  const heap = openHeapFile(changing, WASM);
  truncateSync(changing, 1000);
  assert.throws(() => heap.find({ contains: "a" }), { code: "ERR_DUMP_CHANGED" });
  heap.close();
  // An opened heap does not lock its file.
  rmSync(changing);
});

test("the command line answers", () => {
  const ask = (...options) => {
    const { status, stdout, stderr } = run(CLI, ...options);
    assert.equal(status, 0, `${options[0]}: ${stderr}`);
    return stdout;
  };
  assert.match(ask("--version"), /^\d+\.\d+\.\d+/);
  const wasm = ["--wasm", WASM];
  answers.cli = [
    JSON.parse(ask("analyze", after, ...wasm)).constructors.length,
    JSON.parse(ask("diff", before, after, ...wasm)).constructors.length,
    ask("find", after, ...wasm, "--where", "retainedSize > 1000"),
    ask("paths", after, ...wasm, "--class", "*PriceListener"),
    ask("suspects", after, ...wasm, "--before", before).length > 100,
  ];
  assert.match(ask("doctor", DUMPS, ...wasm), /assembly\/server\/PriceFeed/);
  const report = join(FOLDER, "ein Bericht – ü.html");
  ask("report", after, ...wasm, "--output", report);
  assert.match(readFileSync(report, "utf8"), /^<!doctype html>/i);
});

test("the command line reports an error in one sentence", () => {
  const { status, stdout, stderr } = run(CLI, "analyze", join(FOLDER, "none.dump"), "--wasm", WASM);
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^error: .*none\.dump.*\n/);
});

test("a dump is taken of a running program, by its inspector", async () => {
  const program = start("--inspect=127.0.0.1:0", join(HERE, "run-server.mjs"), WASM);
  try {
    const address = /ws:\/\/\S+/.exec(await until(program.stderr, /ws:\/\/\S+\n/))[0];
    await until(program.stdout, /serving/);
    const dump = join(FOLDER, "läuft.dump");
    const { status, stderr } = run(CLI, "attach", address, "--output", dump);
    assert.equal(status, 0, stderr);
    const view = analyzer.analyzeFile(dump, join(FOLDER, "läuft.wasm"));
    assert.ok(view.constructors.some(({ className }) => className.endsWith("/PriceFeed")));
  } finally {
    await stop(program);
  }
});

test("a process that cannot be attached to is refused, with the reason", async () => {
  const program = start("-e", "setInterval(() => {}, 1000); console.log('runs')");
  try {
    await until(program.stdout, /runs/);
    const { status, stderr } = run(CLI, "attach", String(program.pid), "--list");
    assert.equal(status, 1);
    assert.match(stderr, /^error: cannot|^error: .*inspector/);
    assert.equal(program.exitCode, null, "it runs on");
  } finally {
    await stop(program);
  }
});

test("the page is served, to those who have its secret, until a signal", async () => {
  const server = start(CLI, "open", after, "--wasm", WASM, "--no-browser");
  try {
    const url = new URL((await until(server.stdout, /http\S+\n/)).trim());
    assert.equal((await fetch(url)).status, 200);
    assert.notEqual((await fetch(new URL("/?token=guessed", url))).status, 200);
    const { code, signal } = await stop(server, "SIGINT");
    if (!isWindows) assert.deepEqual({ code, signal }, { code: null, signal: "SIGINT" });
  } finally {
    server.kill("SIGKILL");
  }
});

// A package of its own, which needs a newer Node.
const [major, minor] = process.versions.node.split(".").map(Number);
const skip = major === 20 && minor < 3 && "the package for editors needs Node 20.3";
test("a server for editors reads below its root only", { skip }, async () => {
  const server = start(CLI, "serve", "--stdio", "--root", DUMPS);
  try {
    const outside = join(FOLDER, "outside.dump");
    copyFileSync(after, outside);
    copyFileSync(WASM, join(DUMPS, "server.wasm"));
    const ask = conversation(server);
    const listed = await ask("list_dumps", {});
    assert.equal(listed.result?.dumps.length, 2, JSON.stringify(listed));
    const opened = await ask("open_heaps", { dumps: listed.result.dumps.map(({ path }) => path) });
    assert.equal(opened.result?.heaps.length, 2, JSON.stringify(opened));
    for (const path of [outside, join("..", "outside.dump")]) {
      const refused = await ask("open_heaps", { dumps: [path] });
      assert.equal(refused.error?.data?.code, "ERR_OUTSIDE_ROOTS", JSON.stringify(refused));
    }
  } finally {
    await stop(server);
  }
});

test("the answers are those of the machine that made these files", () => {
  const file = join(HERE, "expected.json");
  const text = `${JSON.stringify(answers, null, 1)}\n`;
  if (process.argv.includes("--write")) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, "utf8"));
});

function digest(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function run(...options) {
  const limits = { encoding: "utf8", timeout: PATIENCE };
  const ended = spawnSync(PROGRAM, [...BEFORE, ...options], limits);
  assert.equal(ended.error, undefined);
  return ended;
}

function start(...options) {
  return spawn(PROGRAM, [...BEFORE, ...options], { stdio: ["pipe", "pipe", "pipe"] });
}

/** What a stream has written when it matches. */
async function until(stream, expected) {
  let text = "";
  for await (const piece of stream.iterator({ destroyOnReturn: false })) {
    text += piece;
    if (expected.test(text)) return text;
  }
  throw new Error(`the program ended after: ${text}`);
}

async function stop(program, signal = "SIGKILL") {
  if (program.exitCode !== null || program.signalCode !== null) return {};
  const ended = once(program, "exit");
  program.kill(signal);
  const [code, by] = await ended;
  return { code, signal: by };
}

/** Asks by JSON-RPC over the streams of a program. */
function conversation({ stdin, stdout }) {
  const waiting = new Map();
  let received = Buffer.alloc(0);
  stdout.on("data", (piece) => {
    received = Buffer.concat([received, piece]);
    for (;;) {
      const head = received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(received.subarray(0, head))[1]);
      const end = head + 4 + length;
      if (received.length < end) return;
      const message = JSON.parse(received.subarray(head + 4, end));
      received = received.subarray(end);
      waiting.get(message.id)?.(message);
    }
  });
  let id = 0;
  return (method, params) => {
    id += 1;
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    stdin.write(body);
    return new Promise((resolve) => waiting.set(id, resolve));
  };
}
