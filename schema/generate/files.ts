/** All files that are generated from the schemas, by their paths. */
import { agents } from "./agents.ts";
import { codes } from "./codes.ts";
import { facts, findFields } from "./facts.ts";
import { commandsPage } from "./tables.ts";
import { answers, options } from "./types.ts";

export const FILES: Record<string, () => string> = {
  "answers.d.ts": answers,
  "codes.d.ts": codes,
  "docs/commands.md": commandsPage,
  "js/generated/find_fields.ts": findFields,
  "js/generated/options.ts": facts,
  "options.d.ts": options,
  "packages/mcp/src/generated/schemas.mts": agents,
};
