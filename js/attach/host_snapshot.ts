// A heap snapshot of V8 of a thread, streamed to a file.

import { writeSync } from "node:fs";
import { answerError } from "../inspector/answer.js";
import type { Session } from "../inspector/calls.js";
import { type Unpublished, written } from "./output.js";

/** The most bytes of a snapshot. Those of V8's largest heaps are smaller. */
const MAX_SIZE = 8 * 1024 ** 3;

/**
 * Writes a heap snapshot with the values of numbers. The thread may be paused. Only one piece of the snapshot at a time
 * is in this process's memory.
 */
export async function writeHostSnapshot(session: Session, path: string): Promise<Unpublished> {
  return await written(path, "the heap snapshot", (descriptor) => stream(session, descriptor));
}

async function stream(session: Session, descriptor: number): Promise<void> {
  let size = 0;
  let failure: unknown;
  const forget = session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => {
    if (failure !== undefined) return;
    try {
      size += writePiece(descriptor, chunk, size);
      session.renew();
    } catch (error) {
      // The rest is not waited for.
      failure = error;
      session.abandon();
    }
  });
  try {
    await session.call("HeapProfiler.takeHeapSnapshot", {
      reportProgress: false,
      captureNumericValue: true,
    });
  } catch (error) {
    throw failure ?? error;
  } finally {
    forget();
  }
  if (size === 0) throw answerError("HeapProfiler.takeHeapSnapshot", "sent no snapshot");
}

/** Writes a piece behind `size` bytes, and returns its size. */
function writePiece(descriptor: number, piece: string, size: number): number {
  const bytes = Buffer.from(piece);
  if (size + bytes.length > MAX_SIZE) {
    throw answerError("the heap snapshot", `has more than ${MAX_SIZE} bytes`);
  }
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  return bytes.length;
}
