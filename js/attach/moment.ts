// What is captured at one moment: a dump, a heap snapshot of V8 beside it, and the paused frames.

import { closeSync, fsyncSync } from "node:fs";
import { resolve } from "node:path";
import { AtomicFile, resolveSymlinks, writeFully } from "../whole_file.js";
import { type Captured, writeInstanceDump } from "./capture.js";
import { isInRuntime, readFrames } from "./frames.js";
import { writeHostSnapshot } from "./host_snapshot.js";
import type { RemoteInstance } from "./instances.js";
import { type Pause, whilePaused } from "./pause.js";

/** Where to write what. */
export interface Outputs {
  dump: string;
  /** A heap snapshot of the thread. */
  host: string | undefined;
  /** The paused frames, as JSON. */
  frames: string | undefined;
}

/** Takes a dump, and what else there is an output for, at the same moment. */
export async function writeMoment(
  instance: RemoteInstance,
  wasm: Uint8Array,
  outputs: Outputs,
): Promise<Captured> {
  const { dump, host, frames } = outputs;
  if (host === undefined && frames === undefined) {
    return await writeInstanceDump(instance, wasm, dump);
  }
  // A thread at rest has no frames.
  const moment = frames === undefined ? "at rest" : "at work";
  const isUnsuitable = frames === undefined ? () => false : isInRuntime;
  const { result, stopped } = await whilePaused(instance.thread, moment, isUnsuitable, (pause) =>
    writePaused(instance, wasm, outputs, pause),
  );
  return { ...result, time: stopped };
}

async function writePaused(
  instance: RemoteInstance,
  wasm: Uint8Array,
  { dump, host, frames }: Outputs,
  pause: Pause,
): Promise<Captured> {
  // The snapshot comes first: what the rest looks at would be roots in it.
  const snapshot =
    host === undefined ? undefined : await writeHostSnapshot(instance.thread.session, host);
  try {
    const found = frames === undefined ? [] : await readFrames(instance, pause);
    const captured = await writeInstanceDump(instance, wasm, dump, pause);
    if (frames !== undefined) {
      writeWhole(frames, Buffer.from(`${JSON.stringify({ frames: found }, undefined, 2)}\n`));
    }
    snapshot?.publish();
    return captured;
  } finally {
    snapshot?.discard();
  }
}

/** Writes a file that is complete or does not exist. Its owner alone can read it. */
export function writeWhole(path: string, bytes: Buffer): void {
  const file = new AtomicFile(resolveSymlinks(resolve(path)), 0o600);
  try {
    writeFully(file.descriptor, bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
    fsyncSync(file.descriptor);
    closeSync(file.descriptor);
    file.publish();
  } catch (error) {
    file.discard();
    throw error;
  }
}
