// The reference of the methods of JSON-RPC is that of the schemas. `npx vitest run __test__/mcp/reference.test.ts -u`
// rewrites it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { questions } from "../../packages/mcp/src/questions/index.mts";
import { reference } from "./reference.ts";

const PAGE = join(import.meta.dirname, "../../docs/json-rpc.md");

test("docs/json-rpc.md has every method with its parameters and its result", async () => {
  const start = readFileSync(join(import.meta.dirname, "reference_start.md"), "utf8");
  const page = reference(questions(true, true), start);
  for (const { name, input, output } of questions(true, true)) {
    expect(page).toContain(`\n## ${name}\n`);
    for (const key of Object.keys(input.properties ?? {})) expect(page).toContain(`| \`${key}\` |`);
    for (const key of Object.keys(output.properties ?? {}))
      expect(page).toMatch(new RegExp(`^  ${key}\\??: `, "m"));
  }
  await expect(page).toMatchFileSnapshot(PAGE);
});
