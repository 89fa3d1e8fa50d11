// The first part of docs/find-a-leak.md, command by command, in an empty folder of a machine with only Node and npm.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { emptyFolder, environment } from "./machine.ts";
import { ROOT } from "./packages.ts";

const PAGE = join(ROOT, "docs/find-a-leak.md");
/** Before it are no commands; after it are those of the demo, which `guide.test.ts` runs in a clone. */
const [BEFORE, REST] = readFileSync(PAGE, "utf8").split(/(?=^## A first leak)/m) as [
  string,
  string,
];
const [FIRST, AFTER] = REST.split(/(?=^## In a larger program)/m) as [string, string];
const FIVE_MINUTES = 300_000;

/** The output of a command, which must succeed. */
function shell(command: string, cwd: string): string {
  const args = { cwd, env: environment(), encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", command], args);
  expect(status, `${command}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** Does what a block of the page says, and returns the block as it should be. */
function follow(info: string, text: string, folder: string): string {
  const [kind, file] = info.split(" ");
  if (file !== undefined) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return text;
  }
  if (kind === "sh") {
    shell(text, folder);
    return text;
  }
  if (kind !== "console") throw new Error(`the page has a block of kind ${info}`);
  const [command] = text.split("\n", 1) as [string];
  return `${command}\n${shell(command.replace(/^\$ /, ""), folder)}`;
}

test.skipIf(process.platform === "win32")(
  "a first leak is found, mended and gated in five minutes, from the packed tarball alone",
  async () => {
    const folder = emptyFolder("first-leak");
    const started = performance.now();
    const followed = FIRST.replace(
      /^```([^\n]+)\n([\s\S]*?)^```$/gm,
      (_, info: string, text: string) => `\`\`\`${info}\n${follow(info, text, folder)}\`\`\``,
    );
    const seconds = (performance.now() - started) / 1000;
    console.log(`the commands of the page took ${seconds.toFixed(1)} s`);
    await expect(BEFORE + followed + AFTER).toMatchFileSnapshot(PAGE);
  },
  // The limit stops a test that hangs; it is also what the page promises.
  FIVE_MINUTES,
);

test("the page has every step: install, build, find, mend, gate", () => {
  for (const command of [
    "npm install",
    "asinit",
    "register app.js",
    "diff ",
    "growth ",
    "check ",
    "npm test",
  ]) {
    expect(FIRST).toContain(command);
  }
});
