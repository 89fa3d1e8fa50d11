// Most tests run the command line in a thread. Here each command is a process, which has to say the same.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../dist/heap_analyzer/main.js";
import { CLI, spawnIn } from "./support/command_line.ts";

const COMMANDS = readdirSync(join(CLI, "../commands"))
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.slice(0, -".js".length))
  // It prints the help of another.
  .filter((name) => name !== "help");

describe.each(COMMANDS)("%s, as a process and in this one", (command) => {
  test.each([
    ["its help", [command, "--help"], 0],
    ["an option that it does not have", [command, "--no-such-option"], 1],
  ])("says the same of %s", async (_, args, status) => {
    const { stdout, stderr, ...process } = spawnIn(__dirname, args);
    expect(await run(args)).toEqual({ status: process.status, stdout, stderr });
    expect(process.status).toBe(status);
  });
});

test("a run in this process leaves its exit code alone", async () => {
  const earlier = process.exitCode;
  expect((await run(["no-such-command"])).status).toBe(1);
  expect(process.exitCode).toBe(earlier);
});
