/** `expose`: a module whose instances show their globals, made at build time. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { reason } from "../../whole_file.js";
import { addon } from "../addon.js";
import { STANDARD_INPUT } from "../inputs.js";
import { fileArgument, fileName } from "../options.js";
import { write } from "../output.js";

export function addExposeCommand(program: Command): void {
  program
    .command("expose")
    .description("export what a complete dump needs, for hosts that cannot change a module")
    .addArgument(fileArgument("<module>", "the module, or - for standard input"))
    .requiredOption(
      "-o, --output <file>",
      "the module to write; may be the one that is read",
      fileName,
    )
    .action(async (module: string, { output }: { output: string }) => {
      const wasm = read(module);
      await write([expose(module, wasm)], output);
    });
}

function read(module: string): Buffer {
  try {
    return readFileSync(module === STANDARD_INPUT ? process.stdin.fd : module);
  } catch (error) {
    throw new Error(`cannot read the module ${module}: ${reason(error)}`, { cause: error });
  }
}

function expose(module: string, wasm: Buffer): Buffer {
  try {
    return addon().exposeGlobals(wasm);
  } catch (error) {
    throw new Error(`cannot expose the globals of ${module}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
