// Writes dumps of all instances to files with unique names.

import { join, resolve } from "node:path";
import { threadId } from "node:worker_threads";

import { escapeUnprintable } from "../text.js";
import { writeDumpFile } from "./dump_file.js";
import { type HiddenExports, liveInstances } from "./registry.js";
import { type CaptureMoment, takeSnapshot } from "./snapshot.js";

/** Absolute: the program may change its working directory later. */
const DIRECTORY = resolve(process.env.HEAP_DUMP_DIRECTORY || "heap-dumps");

let sequence = 0;

/** The folder for dumps whose path no call gives: `HEAP_DUMP_DIRECTORY`, or `heap-dumps`. */
export function dumpDirectory(): string {
  return DIRECTORY;
}

/**
 * Writes a dump of each instance, and a line to stderr for each. Never throws, because the program must continue.
 *
 * @param instances default: all of this thread.
 * @param moment whether a function trapped.
 * @returns the number of instances.
 */
export function writeAllDumps(
  instances: readonly HiddenExports[] = liveInstances(),
  moment: CaptureMoment = "now",
): number {
  for (const instance of instances) {
    try {
      const path = join(DIRECTORY, nextFileName(new Date()));
      writeDumpFile(takeSnapshot(instance, undefined, moment), path);
      report(`heap dump written: ${path}`);
    } catch (error) {
      report(`heap dump failed: ${(error as Error).message}`);
    }
  }
  return instances.length;
}

/** A line on stderr. What the program may have chosen in it controls no terminal. */
export function report(line: string): void {
  process.stderr.write(`${escapeUnprintable(line)}\n`);
}

/** A name in the format of Node's heap snapshots: date, time, process, thread, sequence. */
function nextFileName(now: Date): string {
  const digits = (value: number, count: number) => String(value).padStart(count, "0");
  const date = `${now.getFullYear()}${digits(now.getMonth() + 1, 2)}${digits(now.getDate(), 2)}`;
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => digits(part, 2));
  sequence += 1;
  return `Heap.${date}.${time.join("")}.${process.pid}.${threadId}.${digits(sequence, 3)}.dump`;
}
