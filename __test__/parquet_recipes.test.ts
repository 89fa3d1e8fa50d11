// Every recipe of the page about tables, run by DuckDB: its rows are those of the answers. `npm run test:full -- fleet` installs
// DuckDB, and runs this test.

import { readFileSync, rmSync } from "node:fs";
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
  const page = readFileSync(join(import.meta.dirname, "../docs/fleet.md"), "utf8");
  const [, sql] = page.split("## Recipes\n")[1]?.match(/```sql\n([\s\S]*?)```/) ?? [];
  const statements = (sql ?? "").split(/;\n/).filter((text) => text.trim() !== "");
  return new Map(
    statements.map((text) => [text.match(/-- (\w+ \w+ \w+)/)?.[1] ?? text, text] as const),
  );
}

/** A dump of the folder, with what names its rows. */
interface Dump {
  heap: Heap;
  id: string;
}

describe.skipIf(!hasDuckDb)("the recipes, in DuckDB", () => {
  let folder: string;
  let dumps: [Dump, Dump];
  let answers: Map<string, Row[]>;

  beforeAll(async () => {
    folder = await sessionsFolder();
    // Objects of both dumps have the same addresses, so that a join needs the dump.
    const open = (name: string, hour: number): Dump => {
      const args = ["export", name, "--wasm", "app.wasm", "--to", "parquet"];
      const time = ["--captured-at", `2026-11-22T${hour}:00:00Z`, "--output", "tables"];
      outputOf(runIn(folder, [...args, ...time, "--objects", "--edges", "--fields"]));
      const file = join(folder, name);
      const id = sha256(readFileSync(file));
      return { heap: openHeapFile(file, join(folder, "app.wasm")), id };
    };
    dumps = [open("app.dump", 18), open("later.dump", 19)];
    const statements = recipes();
    const rows = askDuckDb(join(folder, "tables"), [...statements.values()]);
    answers = new Map([...statements.keys()].map((name, nth) => [name, rows[nth] as Row[]]));
  });
  afterAll(() => {
    for (const { heap } of dumps ?? []) heap.close();
    rmSync(folder, { recursive: true });
  });

  test("what closed sessions refer to", () => {
    const held = dumps.flatMap(({ heap }) => {
      const closed = heap.find({ class: "*/Session", where: "open == false", limit: 1000 });
      const fields = closed.objects.flatMap(({ address }) => heap.object(address).fields);
      const notes = new Set(fields.flatMap(({ address }) => address ?? []));
      return [...notes].map((address) => heap.object(address).shallowSize);
    });
    expect(held).toHaveLength(50 + 51);
    const bytes = held.reduce((sum, size) => sum + size, 0);
    expect(answers.get("What the sessions")).toEqual([
      { class: "~lib/string/String", objects: held.length, bytes },
    ]);
  });

  test.each([0, 1] as const)("the largest objects of each class, in dump %i", (nth) => {
    const { heap, id } = dumps[nth];
    const { constructors } = heap.constructors({ top: 1000 });
    const names = constructors.map(({ className }) => className).sort();
    const expected = names.flatMap((name) => {
      const { objects } = heap.find({ class: name, limit: 1000 });
      objects.sort((a, b) => b.retainedSize - a.retainedSize || a.address - b.address);
      return objects.slice(0, 3).map(({ address, retainedSize }) => ({
        dump_id: id,
        class: name,
        address,
        retained_size: retainedSize,
      }));
    });
    const rows = answers.get("The three largest") ?? [];
    expect(rows.filter(({ dump_id }) => dump_id === id)).toEqual(expected);
  });

  test("objects with many referrers", () => {
    const found = answers.get("Objects to which") ?? [];
    expect(found).toHaveLength(20);
    for (const { address, referrers, class: name, dump_id } of found) {
      const answer = dumps.find(({ id }) => id === dump_id)?.heap.object(address as number);
      expect([answer?.className, answer?.referrerCount]).toEqual([name, referrers]);
    }
  });

  test("fields that are the same in every object", () => {
    const rows = answers.get("Numbers and booleans") ?? [];
    const sessions = rows.filter((row) => String(row.class).endsWith("/Session"));
    expect(sessions).toMatchObject([{ name: "tier", value: "2", objects: 300 + 305 }]);
  });

  test("how the number of objects changes", () => {
    const rows = answers.get("How the number") ?? [];
    const sessions = rows.filter((row) => String(row.class).endsWith("/Session"));
    expect(sessions).toMatchObject([
      { count: 300, change: 300 },
      { count: 305, change: 5 },
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
