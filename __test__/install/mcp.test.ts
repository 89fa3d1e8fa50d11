// `npx @warpo/heap-analyzer-mcp`: the packed server with the packed analyzer, as a client starts it.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { connect, GENERATIONS } from "../mcp/client.ts";
import { emptyFolder, environment, node, nodeOutput, npm, project } from "./machine.ts";
import { npmCli } from "./packages.ts";

const { folder } = inject("server");
const version = inject("packages").find(({ name }) => name === "@warpo/heap-analyzer-mcp")?.version;
let installed: string;

beforeAll(() => {
  installed = project({});
  npm(["install", "@warpo/heap-analyzer-mcp"], { cwd: installed });
});

/** What a client runs: npm with these arguments. */
function npx(args: string[], cwd: string) {
  const env = environment() as Record<string, string>;
  return { script: [npmCli(), "exec", ...args], cwd, env };
}

test("the analyzer, the SDK and their dependencies are installed, and nothing else", () => {
  const modules = join(installed, "node_modules");
  const names = readdirSync(modules).filter((name) => !name.startsWith("."));
  expect(names).toEqual([
    "@modelcontextprotocol",
    "@warpo",
    "commander",
    "vscode-jsonrpc",
    "ws",
    "zod",
  ]);
});

test.each(GENERATIONS)("a client of protocol %s asks the installed server", async (generation) => {
  const server = npx(["--offline", "--", "warpo-heap-analyzer-mcp"], installed);
  const session = await connect(["--root", folder], generation, server);
  expect(session.client.getServerVersion()?.version).toBe(version);
  const { heaps } = await session.call("open_heaps", { dumps: ["before.dump", "after.dump"] });
  const [before, heap] = heaps.map((one: { heap: string }) => one.heap);
  const { suspects } = await session.call("suspects", { heap, before });
  expect(suspects[0].className).toBe("assembly/server/PriceFeed");
  await session.close();
});

test("npx runs the server where nothing is installed", async () => {
  const server = npx(["--yes", "--", "@warpo/heap-analyzer-mcp"], emptyFolder());
  const session = await connect(["--root", folder], GENERATIONS[0], server);
  expect((await session.call("list_dumps")).dumps).toHaveLength(2);
  await session.close();
});

test("the analyzer's serve runs the server if it is installed, and otherwise says where it is", () => {
  const run = (cwd: string) =>
    node(["node_modules/@warpo/heap-analyzer/dist/heap_analyzer/cli.js", "serve", "--stdio"], {
      cwd,
    });
  const here = run(installed);
  expect(here.status).toBe(1);
  expect(here.stderr).toContain("--root is missing");
  const alone = project({});
  npm(["install", "@warpo/heap-analyzer"], { cwd: alone });
  const { status, stdout, stderr } = run(alone);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^error: serve is a part of @warpo\/heap-analyzer-mcp, .*npx .*\n$/);
});

test("help and version go to stdout, and a wrong argument is one line on stderr", () => {
  const cli = "node_modules/@warpo/heap-analyzer-mcp/dist/cli.mjs";
  expect(nodeOutput([cli, "--version"], { cwd: installed })).toBe(`${version}\n`);
  expect(nodeOutput([cli, "--help"], { cwd: installed })).toContain("--root <folder>");
  for (const args of [
    [],
    ["--root", "nowhere"],
    ["--root", ".", "--memory", "much"],
    ["--root", ".", "--characters", "5"],
    ["--root", ".", "--export-folder", "nowhere"],
    ["--root", ".", "analyze"],
    ["--root", ".", "serve"],
    ["--colour"],
  ]) {
    const { status, stdout, stderr } = node([cli, ...args], { cwd: installed });
    expect({ status, stdout }, args.join(" ")).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^error: .*\n$/);
  }
});
