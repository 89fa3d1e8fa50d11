// The file that says who pinned what, beside a dump.

import { closeSync, fsyncSync } from "node:fs";
import { identifyDump } from "../numbers/file.js";
import { AtomicFile, writeFully } from "../whole_file.js";
import { pinsOf } from "./pin_log.js";
import type { Exports } from "./registry.js";

const FORMAT = "warpo-heap-analyzer handles 1";

/** The path of the file that belongs to a dump. */
export function handlesPath(dump: string): string {
  return `${dump.replace(/\.dump$/, "")}.handles.json`;
}

/**
 * Writes the file, if the pins of the instance are watched.
 *
 * @param target the file, whose folder exists and which is no link.
 * @returns whether there is such a file now.
 */
export function writeHandles(
  exports: Exports | undefined,
  dump: string,
  target: string,
  permissions: number,
): boolean {
  const found = exports === undefined ? undefined : pinsOf(exports);
  if (found === undefined) return false;
  const { pins, stacks, ...counts } = found;
  const head = JSON.stringify({ format: FORMAT, ...identifyDump(dump), ...counts }).slice(0, -1);
  const lines = [`"stacks":[\n${stacks.map((stack) => JSON.stringify(stack)).join(",\n")}\n]`];
  lines.push(`"pins":[\n${pins.map((pin) => JSON.stringify(pin)).join(",\n")}\n]`);
  const bytes = Uint8Array.from(Buffer.from(`${head},\n${lines.join(",\n")}\n}\n`));
  const file = new AtomicFile(target, permissions);
  try {
    try {
      writeFully(file.descriptor, bytes.buffer, 0, bytes.byteLength);
      fsyncSync(file.descriptor);
    } finally {
      closeSync(file.descriptor);
    }
    file.publish();
    return true;
  } catch (error) {
    file.discard();
    throw error;
  }
}
