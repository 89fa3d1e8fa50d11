// What is captured at one moment: a dump, a heap snapshot of V8 beside it, and the paused frames.

import { type Captured, writeInstanceDump } from "./capture.js";
import { isInRuntime, readFrames } from "./frames.js";
import { writeHostSnapshot } from "./host_snapshot.js";
import { type RemoteInstance, releaseObjects } from "./instances.js";
import { type NumbersOutput, writeHostNumbers } from "./numbers.js";
import { contents, type Unpublished, writeError, written } from "./output.js";
import { type Pause, whilePaused } from "./pause.js";

/** Where to write what. */
export interface Outputs {
  dump: string;
  /** A heap snapshot of the thread. */
  host: string | undefined;
  /** The numbers that the heap snapshot does not show. Needs `host`. */
  numbers: NumbersOutput | undefined;
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
    const { captured, file } = await writeInstanceDump(instance, wasm, dump);
    publishAll(instance, [[dump, file]]);
    return captured;
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
  { dump, host, numbers, frames }: Outputs,
  pause: Pause,
): Promise<Captured> {
  const files: [string, Unpublished][] = [];
  try {
    if (frames !== undefined) {
      const found = { frames: await readFrames(instance, pause) };
      const text = Buffer.from(`${JSON.stringify(found, undefined, 2)}\n`);
      files.push([frames, await written(frames, "the frames", contents(text))]);
    }
    if (host !== undefined) {
      // What is looked at is a root in the snapshot.
      await releaseObjects(instance.thread);
      files.push([host, await writeHostSnapshot(instance.thread.session, host)]);
    }
    const before = async (captured: Captured, descriptor: number) => {
      if (numbers === undefined) return;
      const output = await writeHostNumbers(instance.thread, pause, captured, descriptor, numbers);
      files.push([numbers.path, output]);
    };
    const { captured, file } = await writeInstanceDump(instance, wasm, dump, { pause, before });
    files.unshift([dump, file]);
    publishAll(instance, files);
    return captured;
  } finally {
    for (const [, file] of files) file.discard();
  }
}

/** Gives files their names, unless the work was ended meanwhile. */
function publishAll({ thread }: RemoteInstance, files: [string, Unpublished][]): void {
  try {
    thread.session.check();
  } catch (error) {
    for (const [, file] of files) file.discard();
    throw error;
  }
  for (const [path, file] of files) publish(path, file);
}

/** Writes a file that is complete or does not exist. */
export async function writeWhole(path: string, what: string, bytes: Buffer): Promise<void> {
  publish(path, await written(path, what, contents(bytes)));
}

function publish(path: string, file: Unpublished): void {
  try {
    file.publish();
  } catch (error) {
    file.discard();
    throw writeError(path, "the file", error);
  }
}
