/** `app`: the page with the engine inside, which opens files without this command line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { reason } from "../../whole_file.js";
import { showInBrowser } from "../browser.js";
import { fileName } from "../options.js";
import { write, writeText } from "../output.js";

const PAGE = join(__dirname, "..", "..", "app.html");

export function addCommand(program: Command): void {
  program
    .command("app")
    .description("a page that opens dumps itself: one file, without a server or a network")
    .option("-o, --output <file>", "write the page to a file instead of opening it", fileName)
    .action(runApp);
}

async function runApp({ output }: { output?: string }): Promise<void> {
  let page: Buffer;
  try {
    page = readFileSync(PAGE);
  } catch (error) {
    const hint = "a source tree has none before npm run build:app";
    throw new Error(`cannot read the page ${PAGE}: ${reason(error)}; ${hint}`, { cause: error });
  }
  if (output !== undefined) return await write([page], output);
  const url = pathToFileURL(PAGE).href;
  writeText(`${url}\n`);
  showInBrowser(url);
}
