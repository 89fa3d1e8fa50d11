/** `expose`: at build time, changes a module so that it exports the globals that a dump needs. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { reason } from "../../whole_file.js";
import { addon } from "../addon.js";
import { STANDARD_INPUT } from "../inputs.js";
import { fileArgument, fileName } from "../options.js";
import { write } from "../output.js";

export function addCommand(program: Command): void {
  program
    .command("expose")
    .description("at build time, change a module so that complete dumps can be taken")
    .addArgument(fileArgument("<module>", "the module, or - for standard input"))
    .requiredOption(
      "-o, --output <file>",
      "the module to write; can be the same file as <module>",
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
