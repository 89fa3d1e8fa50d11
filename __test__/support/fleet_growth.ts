/** What the query `growth` of the fleet says of two heap snapshots of one machine, asked with DuckDB. */
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { PYTHON } from "./duckdb.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CLI = join(ROOT, "dist/heap_analyzer/cli.js");
const ANSWERS = join(ROOT, "__test__/fleet/answers.py");

export interface FleetRow {
  service: string;
  machines_growing: number;
  growth: number;
  path: string[];
}

/** Exports the snapshots to tables in `folder`, an hour apart, and asks. */
export function fleetGrowth(folder: string, snapshots: [string, string]): FleetRow[] {
  const tables = join(folder, "tables");
  for (const [hour, file] of snapshots.entries()) {
    const args = ["export", file, "--to", "parquet", "--output", tables, "--source", file];
    const facts = ["--captured-at", `2026-11-22T1${hour}:00:00Z`];
    const labels = ["--label", "service=shop", "--label", "machine=one"];
    execFileSync(process.execPath, [CLI, ...args, ...facts, ...labels], { stdio: "ignore" });
  }
  const output = execFileSync(PYTHON, [ANSWERS, "duckdb", tables, "2026-11-15", "1.0"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return JSON.parse(output).growth;
}

/** The paths that grow by at least this much, as text. */
export function grownPaths(rows: FleetRow[], bytes: number): string {
  const grown = rows.filter(({ growth }) => growth >= bytes);
  return grown.map(({ path }) => path.join(" > ")).join("\n");
}
