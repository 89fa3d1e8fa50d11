/** The blocks of code in the page on hosts. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../../docs/capture.md", import.meta.url));

const FENCE = "```";

/** The first block with this info string, as in `js esm`. */
export function guideBlock(info: string): string {
  const [, text] = readFileSync(PAGE, "utf8").split(`${FENCE}${info}\n`);
  if (text === undefined) throw new Error(`docs/capture.md has no block ${info}`);
  return text.slice(0, text.indexOf(FENCE));
}
