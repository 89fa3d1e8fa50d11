// What is generated from the schemas of options and answers is that of these schemas. `just generate` rewrites it.

import { join } from "node:path";
import { expect, test } from "vitest";
import { FILES } from "../schema/generate/files.ts";

test.each(Object.entries(FILES))("%s is what the schemas say", async (name, generated) => {
  await expect(generated()).toMatchFileSnapshot(join(import.meta.dirname, "..", name));
});
