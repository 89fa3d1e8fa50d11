// The scripts with which shells complete the command line.

import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { WINDOWS } from "./support/system.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
const scripts: Record<string, string> = {};

beforeAll(() => {
  for (const shell of SHELLS) {
    scripts[shell] = outputOf(runIn(import.meta.dirname, ["completion", shell]));
  }
});

test.each(SHELLS)("the script for %s has commands, options and their values", (shell) => {
  for (const part of ["suspects", "find", "group-by", "shallow retained"]) {
    expect(scripts[shell]).toContain(part);
  }
  // Another name of an option is not in the help either.
  expect(scripts[shell]).not.toMatch(/--top\b.*waste|waste.*--top\b/);
});

test("another shell is refused, with those that there are", () => {
  expect(failureOf(runIn(import.meta.dirname, ["completion", "csh"]))).toContain("bash, zsh, fish");
});

describe.skipIf(WINDOWS)("bash", () => {
  /** What bash completes the last of these words to. */
  function completed(...words: string[]): string[] {
    const asked = `${scripts.bash}
COMP_WORDS=(warpo-heap-analyzer "$@"); COMP_CWORD=$#
_warpo_heap_analyzer; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, status } = spawnSync("bash", ["-c", asked, "bash", ...words], {
      encoding: "utf8",
    });
    expect(status).toBe(0);
    return stdout.trim().split("\n");
  }

  test("completes commands, options of a command, and values of an option", () => {
    expect(completed("susp")).toEqual(["suspects"]);
    expect(completed("find", "x.dump", "--gro")).toEqual(["--group-by"]);
    expect(completed("find", "x.dump", "--sum", "")).toEqual(["shallow", "retained"]);
    expect(completed("waste", "x.dump", "--gro")).toEqual([""]);
  });
});
