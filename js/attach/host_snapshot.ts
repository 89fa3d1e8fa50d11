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
 *
 * @param most its largest size in bytes: the target may send pieces without an end.
 */
export async function writeHostSnapshot(
  session: Session,
  path: string,
  most: number = MAX_SIZE,
): Promise<Unpublished> {
  const write = (descriptor: number) => stream(session, descriptor, most);
  return await written(path, "the heap snapshot", write);
}

async function stream(session: Session, descriptor: number, most: number): Promise<void> {
  let size = 0;
  let failure: unknown;
  const forget = session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => {
    if (failure !== undefined) return;
    try {
      const bytes = Buffer.from(chunk);
      if (size + bytes.length > most) {
        throw answerError("the heap snapshot", `has more than ${most} bytes`);
      }
      writeWhole(descriptor, bytes);
      size += bytes.length;
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

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}
