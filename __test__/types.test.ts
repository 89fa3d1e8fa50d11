// Checks that the compilers of users find the types of each entry.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = new URL("../", import.meta.url);

interface Manifest {
  exports: Record<string, { types?: string; default?: string }>;
  typesVersions: Record<string, Record<string, string[]>>;
}

const manifest = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as Manifest;
const entries = Object.entries(manifest.exports).filter(([, { types }]) => types !== undefined);

test.each(entries)("the files of the entry %s exist", (_, files) => {
  for (const file of Object.values(files)) {
    expect(existsSync(fileURLToPath(new URL(file, ROOT)))).toBe(true);
  }
});

test("resolutions that do not read exports find the same types", () => {
  const expected = entries
    .filter(([entry]) => entry !== ".")
    .map(([entry, { types }]) => [entry.slice("./".length), [types]]);
  expect(manifest.typesVersions["*"]).toEqual(Object.fromEntries(expected));
});

test("no types contain members that are for other parts of the package only", () => {
  const folder = new URL("dist/", ROOT);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const types = files.filter((file) => /\.d\.m?ts$/.test(file));
  expect(types).toContain("profile.d.ts");
  const marked = types.filter((file) =>
    readFileSync(new URL(file, folder), "utf8").includes("@internal"),
  );
  expect(marked).toEqual([]);
});
