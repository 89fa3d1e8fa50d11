// JSON-RPC for editors: the same questions, classes before everything else, progress and cancellation.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterEach, beforeAll, expect, test } from "vitest";
import {
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  ProgressType,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { openHeapFile } from "../../dist/index.js";
import { type LeakyServer, leakyServer } from "../support/leaky_server.ts";
import { connect, SERVER, type Structured } from "./client.ts";

let server: LeakyServer;
const ends: (() => void)[] = [];

beforeAll(async () => {
  server = await leakyServer();
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function start(root = server.folder): { child: ChildProcess; editor: MessageConnection } {
  const args = [SERVER, "serve", "--stdio", "--root", root];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
  const editor = createMessageConnection(
    new StreamMessageReader(child.stdout as Readable),
    new StreamMessageWriter(child.stdin as Writable),
  );
  editor.listen();
  ends.push(() => {
    editor.dispose();
    child.kill("SIGKILL");
  });
  return { child, editor };
}

async function ask(editor: MessageConnection, method: string, args: object): Promise<Structured> {
  return await editor.sendRequest(method, args);
}

test("the methods are the tools, with the same answers", async () => {
  const { editor } = start();
  const agent = await connect(["--root", server.folder]);
  const dumps = ["before.dump", "after.dump"];
  const opened = await ask(editor, "open_heaps", { dumps });
  expect(opened).toEqual(await agent.call("open_heaps", { dumps }));
  const [before, heap] = opened.heaps.map((one: Structured) => one.heap);
  const requests: [string, object][] = [
    ["suspects", { heap, before }],
    ["classes", { heap }],
    ["paths", { heap, newSince: before }],
    ["waste", { heap }],
  ];
  for (const [method, args] of requests) {
    const { truncated, ...answer } = await ask(editor, method, args);
    expect(truncated).toEqual([]);
    expect(await agent.call(method, { ...args })).toMatchObject(answer);
  }
  // Pages of editors are longer.
  const { objects } = await ask(editor, "find", { heap, limit: 1000 });
  const all = openHeapFile(server.after, server.wasm).find({ limit: 1000 });
  expect(objects).toHaveLength(all.total);
  await agent.close();
});

test("the classes come before the answer, and progress rises", async () => {
  const { editor } = start();
  const reports: Structured[] = [];
  const token = "opening";
  editor.onProgress(new ProgressType<Structured>(), token, (report) => void reports.push(report));
  const { heaps } = await ask(editor, "open_heaps", { dumps: ["after.dump"], token });
  expect(heaps).toHaveLength(1);
  const [classes, ...others] = reports.filter(({ kind }) => kind === "classes");
  expect(others).toEqual([]);
  expect(classes?.dump).toBe("after.dump");
  const view = openHeapFile(server.after, server.wasm).constructors({ sort: "shallow" });
  expect(classes?.classes[0]).toEqual({
    className: view.constructors[0]?.className,
    count: view.constructors[0]?.count,
    shallowSize: view.constructors[0]?.totalShallowSize,
  });
  const fractions = reports.filter(({ kind }) => kind === "progress").map((one) => one.fraction);
  expect(fractions.length).toBeGreaterThan(0);
  expect(fractions).toEqual([...fractions].sort((one, other) => one - other));
});

test("the classes of a heap snapshot come before the answer, too, and progress moves", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-serve-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  const make =
    "class Item { name = 'x' + Math.random() } globalThis.kept = Array.from({ length: 150_000 }, () => new Item()); " +
    "require('node:v8').writeHeapSnapshot('app.heapsnapshot')";
  execFileSync(process.execPath, ["-e", make], { cwd: folder });
  const { editor } = start(folder);
  const reports: Structured[] = [];
  editor.onProgress(new ProgressType<Structured>(), 1, (report) => void reports.push(report));
  const { heaps } = await ask(editor, "open_heaps", { dumps: ["app.heapsnapshot"], token: 1 });
  const [classes] = reports.filter(({ kind }) => kind === "classes");
  expect(classes?.classes).toContainEqual(
    expect.objectContaining({ className: "Item", count: 150_000 }),
  );
  const sum = (key: string) =>
    classes?.classes.reduce((sum: number, one: Structured) => sum + one[key], 0);
  expect(sum("count")).toBe(heaps[0].liveObjects);
  expect(sum("shallowSize")).toBe(heaps[0].totalLiveSize);
  const fractions = reports.filter(({ kind }) => kind === "progress").map((one) => one.fraction);
  expect(fractions).toEqual([...fractions].sort((one, other) => one - other));
  expect(new Set(fractions).size).toBeGreaterThan(1);
});

test("errors have codes, and the server goes on", async () => {
  const { editor } = start();
  const failure = (method: string, args: object) =>
    editor.sendRequest(method, args).then(
      () => undefined,
      ({ code, data, message }) => ({ code, data, message }),
    );
  expect(await failure("no_method", {})).toMatchObject({ code: -32601 });
  expect(await failure("find", { limit: 0 })).toMatchObject({
    code: -32602,
    data: { code: "ERR_INVALID_ARGUMENTS" },
  });
  const wrong = await failure("object", { heap: "h1", adress: 5 });
  expect(wrong?.message).toContain('Unrecognized key: "adress"');
  expect(wrong?.message).toContain(
    "object takes heap, address, entries?, entriesOffset?, limit?, offset?",
  );
  expect(await failure("open_heaps", { dumps: ["../x"] })).toMatchObject({
    code: -32803,
    data: { code: "ERR_OUTSIDE_ROOTS" },
  });
  expect(await failure("open_heaps", [1, 2])).toMatchObject({ code: -32602 });
  expect((await ask(editor, "list_dumps", {})).dumps).toHaveLength(2);
});

test("a request is cancelled while it opens dumps", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-serve-"));
  ends.push(() => rmSync(folder, { recursive: true }));
  copyFileSync(server.wasm, join(folder, "server.wasm"));
  const dumps = Array.from({ length: 30 }, (_, nth) => `${nth}.dump`);
  for (const dump of dumps) copyFileSync(server.after, join(folder, dump));
  const { editor } = start(folder);
  const source = new CancellationTokenSource();
  const token = "opening";
  // At the first sign of work.
  editor.onProgress(new ProgressType<Structured>(), token, () => void source.cancel());
  const cancelled = editor.sendRequest("open_heaps", { dumps, token }, source.token);
  await expect(cancelled).rejects.toMatchObject({ code: -32800 });
  expect((await ask(editor, "open_heaps", { dumps: ["0.dump"] })).heaps).toHaveLength(1);
});

test("an editor that goes away ends the server; so does a broken header", async () => {
  const left = start();
  await ask(left.editor, "list_dumps", {});
  left.child.stdin?.end();
  expect(await once(left.child, "exit")).toEqual([0, null]);
  const broken = start();
  broken.child.stdin?.write("Content-Length: many\r\n\r\n{}");
  expect(await once(broken.child, "exit")).toEqual([1, null]);
});
