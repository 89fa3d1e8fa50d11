// The dumps of a folder that `open` is given.

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { givenDumps, watchFolders } from "../dist/explorer/files.js";

/** Only the newest 100 are read. */
const COUNT = 103;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "explorer-folder-"));
  writeFileSync(join(folder, "program.wasm"), "\0asm\u{1}\0\0\0");
  for (let nth = 0; nth < COUNT; nth++) write(nth);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A file that begins as a dump does, and is the later the larger its number is. */
function write(nth: number) {
  const file = join(folder, `${nth}.dump`);
  writeFileSync(file, "ASHD\u{2}\0\0\0");
  utimesSync(file, nth, nth);
  return file;
}

test("of a folder with many dumps the newest are read, and the others are not new", async () => {
  const { files, folders, known } = await givenDumps([folder], undefined);
  expect(files.map(({ name }) => name)).toEqual(
    Array.from({ length: 100 }, (_, nth) => `${nth + COUNT - 100}.dump`),
  );
  const later = write(COUNT);
  const stop = new AbortController();
  const found: string[] = [];
  await watchFolders(folders, known, stop.signal, async (path) => {
    found.push(path);
    stop.abort();
  });
  expect(found).toEqual([later]);
});
