// Every recipe of the page about tables, run by DuckDB: its rows are those of the answers. `npm run test:fleet` installs
// DuckDB, and runs this test.

import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../dist/index.js";
import type { Heap } from "../index.js";
import { outputOf, runIn } from "./support/command_line.ts";
import { askDuckDb, hasDuckDb } from "./support/duckdb.ts";
import { type Row, sha256 } from "./support/parquet.ts";
import { sessionsFolder } from "./support/sessions.ts";

/** The statements of the page, by the first words of their comments. */
function recipes(): Map<string, string> {
  const page = readFileSync(join(import.meta.dirname, "../docs/exports/parquet.md"), "utf8");
  const [, sql] = page.split("## Recipes\n")[1]?.match(/```sql\n([\s\S]*?)```/) ?? [];
  const statements = (sql ?? "").split(/;\n/).filter((text) => text.trim() !== "");
  return new Map(
    statements.map((text) => [text.match(/-- (\w+ \w+ \w+)/)?.[1] ?? text, text] as const),
  );
}

/** The rows of one dump. */
const ofDump = (rows: Row[] | undefined, id: string) =>
  (rows ?? [])
    .filter(({ dump_id }) => dump_id === id)
    .map(({ dump_id, ...rest }) => rest);

describe.skipIf(!hasDuckDb)("the recipes, in DuckDB", () => {
  let folder: string;
  let heap: Heap;
  let id: string;
  let answers: Map<string, Row[]>;

  beforeAll(async () => {
    folder = await sessionsFolder();
    // A second dump, which differs in one byte behind the heap: addresses are the same, so a join needs the dump.
    const wasm = join(folder, "app.wasm");
    const dump = join(folder, "app.dump");
    const second = readFileSync(dump);
    second[second.length - 1] = 1;
    writeFileSync(join(folder, "second.dump"), second);
    copyFileSync(dump, join(folder, "first.dump"));
    for (const [name, hour] of [
      ["first", "18"],
      ["second", "19"],
    ]) {
      const args = ["export", `${name}.dump`, "--wasm", "app.wasm", "--to", "parquet"];
      const time = ["--captured-at", `2026-11-22T${hour}:00:00Z`, "--output", "tables"];
      outputOf(runIn(folder, [...args, ...time, "--objects", "--edges", "--fields"]));
    }
    heap = openHeapFile(dump, wasm);
    id = sha256(readFileSync(dump));
    const statements = recipes();
    const rows = askDuckDb(join(folder, "tables"), [...statements.values()]);
    answers = new Map([...statements.keys()].map((name, nth) => [name, rows[nth] as Row[]]));
  });
  afterAll(() => {
    heap?.close();
    rmSync(folder, { recursive: true });
  });

  test("what closed sessions refer to", () => {
    const closed = heap.find({ class: "*/Session", where: "open == false", limit: 1000 }).objects;
    const fields = closed.flatMap(({ address }) => heap.object(address).fields);
    const notes = new Set(fields.flatMap(({ address }) => address ?? []));
    const bytes = [...notes].reduce((sum, address) => sum + heap.object(address).shallowSize, 0);
    expect(notes.size).toBe(50);
    expect(answers.get("What the sessions")).toEqual([
      { class: "~lib/string/String", objects: 2 * notes.size, bytes: 2 * bytes },
    ]);
  });

  test("the largest objects of each class", () => {
    const { constructors } = heap.constructors({ top: 1000 });
    const names = constructors.map(({ className }) => className).sort();
    const expected = names.flatMap((name) => {
      const { objects } = heap.find({ class: name, limit: 1000 });
      objects.sort((a, b) => b.retainedSize - a.retainedSize || a.address - b.address);
      return objects
        .slice(0, 3)
        .map(({ address, retainedSize }) => ({ class: name, address, retained_size: retainedSize }));
    });
    expect(ofDump(answers.get("The three largest"), id)).toEqual(expected);
  });

  test("objects with many referrers", () => {
    const found = answers.get("Objects to which") ?? [];
    expect(found).toHaveLength(20);
    for (const { address, referrers, class: name } of found) {
      const answer = heap.object(address as number);
      expect([answer.className, answer.referrerCount]).toEqual([name, referrers]);
    }
  });

  test("fields that are the same in every object", () => {
    expect(answers.get("Numbers and booleans")).toContainEqual({
      class: "assembly/sessions/Session",
      name: "tier",
      value: "2",
      objects: 600,
    });
    const names = (answers.get("Numbers and booleans") ?? []).map((row) => row.name);
    expect(names).not.toContain("open");
    expect(names).not.toContain("key");
  });

  test("how the number of objects changes", () => {
    const rows = answers.get("How the number") ?? [];
    const sessions = rows.filter((row) => row.class === "assembly/sessions/Session");
    expect(sessions).toMatchObject([
      { count: 300, change: 300 },
      { count: 300, change: 0 },
    ]);
  });

  test("are all checked", () => {
    expect([...answers.keys()]).toEqual([
      "What the sessions",
      "The three largest",
      "Objects to which",
      "Numbers and booleans",
      "How the number",
    ]);
  });
});
