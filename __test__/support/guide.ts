/** The blocks of code in the guide. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const GUIDE = fileURLToPath(new URL("../../docs/guide.md", import.meta.url));

const FENCE = "```";

/** The first block with this info string, as in `js esm`. */
export function guideBlock(info: string): string {
  const [, text] = readFileSync(GUIDE, "utf8").split(`${FENCE}${info}\n`);
  if (text === undefined) throw new Error(`the guide has no block ${info}`);
  return text.slice(0, text.indexOf(FENCE));
}
