/** Where classes are in the source: by the heap or a source map beside the module. */
import { existsSync, readFileSync } from "node:fs";
import type * as native from "./native.js";

/** A class, and where its constructor is. The line and the column are from 1. */
export interface ClassLine {
  className: string;
  file: string;
  line: number;
  column: number;
}

/**
 * The table with the lines of constructors, if there is a source map beside the module, as `asc --sourceMap` writes it.
 * One that cannot be read says nothing.
 */
export function withSourceLines(
  table: native.PlaceTableHandle,
  module: string | undefined,
): native.PlaceTableHandle {
  const map = `${module}.map`;
  if (module === undefined || !existsSync(map)) return table;
  try {
    return table.withSourceMap(readFileSync(module), readFileSync(map, "utf8"));
  } catch {
    return table;
  }
}

/** The lines of constructors that a table knows. */
export function classLines(table: native.PlaceTableHandle): ClassLine[] {
  return JSON.parse(table.classLines());
}
