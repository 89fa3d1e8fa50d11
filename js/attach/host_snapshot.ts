// A heap snapshot of V8 of a thread, streamed to a file.

import { closeSync, fsyncSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { HeapAnalyzerError } from "../errors.js";
import { AtomicFile, reason, resolveSymlinks } from "../whole_file.js";
import { answerError, at, type UncheckedAnswer } from "./answer.js";
import type { Session } from "./connection.js";

/** The most bytes of a snapshot: V8 itself writes larger ones only of heaps that fill its largest heap. */
const MAX_SIZE = 8 * 1024 ** 3;

/** A snapshot that does not have its final name yet. */
export interface HostSnapshot {
  /** Gives the file its final name. */
  publish(): void;
  /** Removes the file, if it does not have its final name. */
  discard(): void;
}

/**
 * Writes a heap snapshot with the values of numbers. The thread may be paused. No more than one piece of the snapshot
 * is in the memory.
 */
export async function writeHostSnapshot(session: Session, path: string): Promise<HostSnapshot> {
  const fail = (error: unknown) =>
    error instanceof HeapAnalyzerError
      ? error
      : new HeapAnalyzerError(
          "ERR_DUMP_WRITE",
          `cannot write the heap snapshot ${path}: ${reason(error)}`,
          { cause: error },
        );
  const file = created(path, fail);
  try {
    await stream(session, file.descriptor);
  } catch (error) {
    file.discard();
    throw fail(error);
  }
  return file;
}

function created(path: string, fail: (error: unknown) => Error): AtomicFile {
  try {
    return new AtomicFile(resolveSymlinks(resolve(path)), 0o600);
  } catch (error) {
    throw fail(error);
  }
}

async function stream(session: Session, descriptor: number): Promise<void> {
  let size = 0;
  let failure: unknown;
  const forget = session.on("HeapProfiler.addHeapSnapshotChunk", (event) => {
    if (failure !== undefined) return;
    try {
      size += writePiece(descriptor, at(event, "chunk"), size);
    } catch (error) {
      failure = error;
    }
  });
  try {
    await session.call("HeapProfiler.takeHeapSnapshot", {
      reportProgress: false,
      captureNumericValue: true,
    });
    if (failure !== undefined) throw failure;
    if (size === 0) throw answerError("HeapProfiler.takeHeapSnapshot", "sent no snapshot");
    fsyncSync(descriptor);
  } finally {
    forget();
    closeSync(descriptor);
  }
}

/** Writes a piece behind `size` bytes, and returns its size. */
function writePiece(descriptor: number, piece: UncheckedAnswer, size: number): number {
  if (typeof piece !== "string") {
    throw answerError("HeapProfiler.addHeapSnapshotChunk", "has no text");
  }
  const bytes = Buffer.from(piece);
  if (size + bytes.length > MAX_SIZE) {
    throw answerError("the heap snapshot", `has more than ${MAX_SIZE} bytes`);
  }
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  return bytes.length;
}
