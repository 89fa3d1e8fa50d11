/** Tables for questions about many dumps, read by a Parquet reader of its own. */
import { createHash } from "node:crypto";
import { parquetReadObjects } from "hyparquet";

export type Row = Record<string, unknown>;

export const TABLES = [
  "dump",
  "class",
  "path",
  "suspect",
  "waste",
  "object",
  "edge",
  "field",
] as const;
export type Table = (typeof TABLES)[number];

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

export async function rowsOf(bytes: Uint8Array): Promise<Row[]> {
  return (await parquetReadObjects({ file: arrayBuffer(bytes) })) as Row[];
}

/** The sum of a column. */
export const sum = (rows: Row[], column: string) =>
  rows.reduce((all, row) => all + Number(row[column]), 0);

/** All values of tables, as JSON. */
export const textOf = (rows: unknown) =>
  JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? Number(value) : value));
