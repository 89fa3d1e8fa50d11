/** DuckDB, where `npm run test:full -- fleet` has installed it. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");
export const PYTHON = join(ROOT, "build/fleet/venv/bin/python");

export const hasDuckDb = existsSync(PYTHON);

/** The rows of statements of SQL that are run in a folder of tables. */
export function askDuckDb(tables: string, statements: string[]): Record<string, unknown>[][] {
  const script = join(ROOT, "__test__/fleet/statements.py");
  const output = execFileSync(PYTHON, [script, tables], {
    input: JSON.stringify(statements),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return JSON.parse(output);
}
