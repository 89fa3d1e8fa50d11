// Dumps of all instances, as files whose names do not repeat.

import { join, resolve } from "node:path";
import { threadId } from "node:worker_threads";

import { writeDumpFile } from "./dump_file.js";
import { liveInstances } from "./registry.js";
import { takeSnapshot } from "./snapshot.js";

/** Absolute: the program may change its working directory later. */
const DIRECTORY = resolve(process.env.HEAP_DUMP_DIRECTORY || "heap-dumps");

let sequence = 0;

/** Where dumps go that no call names a place for: `HEAP_DUMP_DIRECTORY`, or `heap-dumps`. */
export function dumpDirectory(): string {
  return DIRECTORY;
}

/**
 * Writes a dump of each instance of this thread, and a line to stderr for each. Never throws: the
 * program must go on.
 *
 * @returns how many instances there are.
 */
export function writeAllDumps(): number {
  const instances = liveInstances();
  for (const instance of instances) {
    try {
      const path = join(DIRECTORY, nextFileName(new Date()));
      writeDumpFile(takeSnapshot(instance), path);
      report(`heap dump written: ${path}`);
    } catch (error) {
      report(`heap dump failed: ${(error as Error).message}`);
    }
  }
  return instances.length;
}

export function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** As Node names its heap snapshots: date, time, process, thread, sequence. */
function nextFileName(now: Date): string {
  const digits = (value: number, count: number) => String(value).padStart(count, "0");
  const date = `${now.getFullYear()}${digits(now.getMonth() + 1, 2)}${digits(now.getDate(), 2)}`;
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => digits(part, 2));
  sequence += 1;
  return `Heap.${date}.${time.join("")}.${process.pid}.${threadId}.${digits(sequence, 3)}.dump`;
}
