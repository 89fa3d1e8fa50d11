/** `serve`: answers the questions of editors, with the package that speaks their protocol. */
import { pathToFileURL } from "node:url";
import type { Command } from "commander";

const PACKAGE = "@warpo/heap-analyzer-mcp";

export function addCommand(program: Command): void {
  program
    .command("serve")
    .description(`answer questions of editors over JSON-RPC, with ${PACKAGE}`)
    .option("--stdio", "use the standard streams")
    .option("--root <folder>", "read only files in this folder and below (repeatable)")
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      // Its command line reads the same arguments.
      await import(pathToFileURL(server()).href);
    });
}

/** The command line of the package, if it is installed beside this one. */
function server(): string {
  try {
    return require.resolve(`${PACKAGE}/cli`);
  } catch (error) {
    throw new Error(
      `serve is a part of ${PACKAGE}, which is not installed here: run ` +
        `\`npx ${PACKAGE} serve --stdio --root <folder>\``,
      { cause: error },
    );
  }
}
