// The numbers file, which stands beside a heap snapshot and a dump of one moment.

import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import type { HostNumbers } from "./types.js";

/** The first field of a numbers file. */
const FORMAT = "warpo-heap-analyzer numbers 1";
const PIECE = 4 * 1024 * 1024;

/** Which dump the numbers belong to. */
export interface DumpIdentity {
  dumpSize: number;
  /** In hexadecimal digits. */
  dumpSha256: string;
}

/** Reads a dump, at a path or open, to say which one it is. */
export function identifyDump(dump: string | number): DumpIdentity {
  if (typeof dump === "number") return identify(dump);
  const file = openSync(dump, "r");
  try {
    return identify(file);
  } finally {
    closeSync(file);
  }
}

function identify(file: number): DumpIdentity {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(PIECE);
  let dumpSize = 0;
  for (;;) {
    const size = readSync(file, piece, 0, PIECE, dumpSize);
    if (size === 0) return { dumpSize, dumpSha256: hash.digest("hex") };
    hash.update(piece.subarray(0, size));
    dumpSize += size;
  }
}

/** Writes the file. One object is one line. */
export function writeNumbers(file: number, dump: DumpIdentity, numbers: HostNumbers): void {
  const { lo, hi, read, objects } = numbers;
  const head = JSON.stringify({ format: FORMAT, ...dump, lo, hi, read });
  let text = `${head.slice(0, -1)},"objects":[`;
  for (const [nth, object] of objects.entries()) {
    text += `${nth === 0 ? "" : ","}\n${JSON.stringify(object)}`;
    if (text.length < PIECE) continue;
    writeText(file, text);
    text = "";
  }
  writeText(file, `${text}\n]}\n`);
}

function writeText(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}
