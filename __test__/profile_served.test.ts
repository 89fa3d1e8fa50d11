// `profile --pprof-addr`: profiles of a program that runs. Without clang for WASI, the tests are skipped.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { CLI, ENVIRONMENT, failureOf, runIn } from "./support/command_line.ts";
import { decoded } from "./support/pprof.ts";

const folder = mkdtempSync(join(tmpdir(), "profile-served-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Not the `wasm-opt` of this project, which clang would run, and which removes names. */
const PATH = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.includes("node_modules"))
  .join(delimiter);
const busy = join(folder, "busy.wasm");
const made = spawnSync("clang", ["--target=wasm32-wasi", "-g", "busy.c", "-o", busy], {
  cwd: join(import.meta.dirname, "programs/profile"),
  env: { ...process.env, PATH },
});
const hasClang = made.status === 0;
if (!hasClang) console.warn("there is no clang for wasm32-wasi: no program is served");

/** Runs the program, and waits for the address of its profiles. */
async function served(...args: string[]) {
  const all = [CLI, "profile", "--pprof-addr", "127.0.0.1:0", ...args];
  const child = spawn(process.execPath, all, { cwd: folder, env: ENVIRONMENT });
  const output = text(child.stdout);
  const messages = text(child.stderr);
  const exited = once(child, "exit");
  while (!/^profiles: http.*\n/.test(messages.text)) await once(child.stderr, "data");
  const url = messages.text.slice("profiles: ".length).trim();
  return { child, url, output, messages, exited };
}

function text(stream: ChildProcessWithoutNullStreams["stdout"]) {
  const read = { text: "" };
  stream.setEncoding("utf8").on("data", (part: string) => {
    read.text += part;
  });
  return read;
}

const fetched = async (url: string) => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

describe.skipIf(!hasClang)("a program that runs for seconds", () => {
  test("is profiled by requests while it runs, and again as it goes on", async () => {
    const { child, url, output, exited } = await served("--interval", "4096", busy, "6000");
    await wait(500);
    const inUse = async () => {
      const { samples } = decoded(await fetched(`${url}heap`));
      expect(samples.length).toBeGreaterThan(0);
      return samples.reduce((sum, { values }) => sum + (values[3] as number), 0);
    };
    const first = await inUse();
    const cpu = await fetched(`${url}profile?seconds=1`);
    const delta = decoded(await fetched(`${url}allocs?seconds=0.5`));
    const second = await inUse();
    // All of this was answered before the program ended.
    expect(child.exitCode).toBeNull();
    expect(output.text).toBe("");

    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first);
    const running = decoded(cpu).samples.filter(({ stack }) =>
      stack.some((frame) => frame.startsWith("passing ")),
    );
    expect(running.length).toBeGreaterThan(0);
    expect(running.reduce((sum, { values }) => sum + (values[1] as number), 0)).toBeGreaterThan(
      1e8,
    );
    const allocated = delta.samples.reduce((sum, { values }) => sum + (values[1] as number), 0);
    expect(allocated).toBeGreaterThan(0);
    expect((await fetched(url)).toString()).toContain("threadcreate");
    expect((await fetched(`${url}heap?debug=1`)).toString()).toContain("leak");

    expect(await exited).toEqual([0, null]);
    expect(output.text).toBe("done\n");
  }, 60_000);

  test("is not held by a request for more seconds than it runs", async () => {
    const { url, exited } = await served("--interval", "4096", busy, "1500");
    const asked = [fetched(`${url}heap?seconds=200`), fetched(`${url}profile?seconds=200`)];
    const [heap, cpu] = (await Promise.all(asked)).map((one) => decoded(one as Buffer));
    expect(heap?.samples.length).toBeGreaterThan(0);
    expect(cpu?.samples.length).toBeGreaterThan(0);
    expect(await exited).toEqual([0, null]);
  }, 60_000);

  test("is answered for when it ends, if it calls nothing of its host before", async () => {
    const { url, output, exited } = await served("--interval", "1", busy);
    // Until it computes, so that it calls the host no more.
    await wait(500);
    const { samples } = decoded(await fetched(`${url}heap`));
    expect(samples.map(({ values }) => values)).toContainEqual([1, 10_000, 1, 10_000]);
    expect(await exited).toEqual([0, null]);
    expect(output.text).toBe("done\n");
  }, 60_000);

  test("goes on and ends whatever a client sends", async () => {
    const { url, exited } = await served("--interval", "4096", busy, "1500");
    const { port } = new URL(url);
    const silent = connect(Number(port), "127.0.0.1");
    await once(silent, "connect");
    const closed = once(silent, "close");
    const wrong = connect(Number(port), "127.0.0.1");
    wrong.end("GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    expect(String(await once(wrong, "data"))).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*expected a path, found \/\//,
    );
    // It goes on: sooner or later it has allocated.
    while (decoded(await fetched(`${url}heap`)).samples.length === 0) await wait(50);
    expect(await exited).toEqual([0, null]);
    await closed;
  }, 60_000);

  test("is not run if the address is in use or is none", async () => {
    const { url, child, exited } = await served(busy, "60000");
    const { port } = new URL(url);
    const again = runIn(folder, ["profile", "--pprof-addr", `:${port}`, busy, "1"]);
    expect(failureOf(again)).toMatch(
      new RegExp(`cannot serve profiles at 127.0.0.1:${port}: .*EADDRINUSE`),
    );
    child.kill();
    await exited;
    const none = runIn(folder, ["profile", "--pprof-addr", "6060", busy, "1"]);
    expect(failureOf(none)).toMatch(/Expected a host and a port: 127.0.0.1:6060/);
  }, 60_000);
});
