/**
 * The recipes of docs/native.md, command by command, each in an empty folder. Addresses and sizes in the output depend on
 * the version of the compiler, so only what is left without them is compared.
 */
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compiler } from "./support/native_toolchains.ts";

const ROOT = resolve(__dirname, "..");
const PAGE = join(ROOT, "docs/native.md");

/** For each recipe, a command that succeeds if its compiler is there. */
const NEEDS: Record<string, string[]> = {
  "C and C++ with clang": [
    "clang",
    "--target=wasm32-wasi",
    "-E",
    "-include",
    "stdlib.h",
    "-xc",
    "/dev/null",
  ],
  Emscripten: ["emcc", "--version"],
  Rust: ["sh", "-c", "ls $(rustc --print target-libdir --target wasm32-unknown-unknown)/libstd*"],
  Zig: ["python3", "-m", "ziglang", "version"],
};
/** Those compilers take long: `npm run test:full -- native`. */
const SLOW = ["Emscripten", "Zig"];

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "native-pages-")));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@warpo"), { recursive: true });
  mkdirSync(join(modules, ".bin"));
  symlinkSync(ROOT, join(modules, "@warpo/heap-analyzer"), "junction");
  const cli = join(modules, "@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  const command = `#!/bin/sh\nexec node "${cli}" "$@"\n`;
  writeFileSync(join(modules, ".bin/warpo-heap-analyzer"), command, { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The output of commands. All fail if one does. The package is installed already. */
function shell(commands: string): string {
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-ec", commands.replace(/^npm install .*$/m, "")],
    {
      cwd: folder,
      encoding: "utf8",
      env: {
        ...process.env,
        // Not the `wasm-opt` of this project, which compilers would run.
        PATH: [join(folder, "node_modules/.bin"), process.env.PATH]
          .join(delimiter)
          .split(delimiter)
          .filter((part) => part.startsWith(folder) || !part.includes("node_modules"))
          .join(delimiter),
        npm_config_offline: "true",
      },
    },
  );
  expect(status, `${commands}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** A text without what depends on the version of a compiler. */
function shape(text: string): string {
  return text
    .replace(/0x[0-9a-f]+/g, "0x")
    .replace(/\S*\/(?=[\w.]+:\d+$)/gm, "")
    .replace(/fingerprint [0-9a-f]{12}/g, "fingerprint")
    .replace(/[0-9.,]+ (B|KiB|MiB)/g, "$1")
    .replace(/ +/g, " ");
}

/** Does what a block of the page says, and returns the block as it should be. */
function follow(info: string, text: string): string {
  const [kind, file] = info.split(" ");
  if (file !== undefined) {
    writeFileSync(join(folder, file), text);
    return text;
  }
  if (kind === "sh") {
    shell(text);
    return text;
  }
  if (kind !== "console") throw new Error(`the page has a block of kind ${info}`);
  const command = text.split("\n", 1)[0] as string;
  const output = `${command}\n${shell(command.replace(/^\$ /, ""))}`;
  return shape(output) === shape(text) ? text : output;
}

/** Follows all blocks of a text, and returns the text as it should be. */
function followAll(text: string): string {
  return text.replace(
    /^```([^\n]+)\n([\s\S]*?)^```$/gm,
    (_, info: string, block: string) => `\`\`\`${info}\n${follow(info, block)}\`\`\``,
  );
}

/** The text of a page from this heading to the next one of its level. */
function section(page: string, heading: string): string {
  const [, text] = page.split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`${PAGE} has no heading ${heading}`);
  return text.split("\n## ")[0] as string;
}

describe.skipIf(process.platform === "win32")("the commands of a recipe print what it says", () => {
  test.for(Object.keys(NEEDS))("%s", async (name, context) => {
    context.skip(SLOW.includes(name) && process.env.TEST_NATIVE === undefined, "takes long");
    const [program = "", ...args] = NEEDS[name] ?? [];
    const { status, error } = compiler(program, ...args);
    context.skip(error !== undefined || status !== 0, `there is no ${program} for it`);
    const page = readFileSync(PAGE, "utf8");
    followAll(section(page, "The host"));
    const recipe = section(page, name);
    await expect(page.replace(recipe, () => followAll(recipe))).toMatchFileSnapshot(PAGE);
  });
});
