/** Where classes are in the source: by the heap, by a source map beside the module, or by their names. */
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

/**
 * The file of a class of AssemblyScript, whose name begins with the path of its module: `assembly/game.ts` of
 * `assembly/game/Player<i32>`. Undefined for what has no module.
 */
export function moduleFileOf(className: string): string | undefined {
  const [, module] = /^([^\s<>()|,]+)\/[^/\s<>()|,]+(?:<.*>)?$/s.exec(className) ?? [];
  return module === undefined ? undefined : `${module}.ts`;
}
