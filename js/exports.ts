/** Exports of a loaded heap: their formats and options, checked, and the streams of their bytes. */
import { Readable } from "node:stream";
import { invalidArgument } from "./errors.js";
import { awaitNative } from "./native_errors.js";
import {
  type Check,
  invalidOption,
  readOptions,
  typed,
  watchOptions,
  wholeNumber,
} from "./options.js";

/** What can be exported: the options of each format. */
const FORMATS: Record<string, Record<string, Check>> = {
  heapsnapshot: { strings: typed("boolean"), all: typed("boolean") },
  pprof: {},
  "heap-diff": { samples: wholeNumber(0, 2 ** 32 - 1) },
};

/** Bytes that wait in a stream for its reader: less than a piece, so no more than one piece waits. */
const HIGH_WATER_MARK = 1 << 16;

/** A format with its options in the form in which the engine reads them, and what is not for the engine. */
export function exportRequest(format: unknown, options: unknown) {
  const names = Object.keys(FORMATS);
  if (typeof format !== "string") throw invalidArgument("format", "a string", format);
  if (!Object.hasOwn(FORMATS, format)) {
    throw invalidOption(`format: found ${format.slice(0, 100)}; expected ${names.join(", ")}`);
  }
  const checks = { ...FORMATS[format], before: unchecked, signal: unchecked };
  const { before, signal: _, ...read } = readOptions(options, checks, "sync");
  const { signal } = watchOptions(options as object);
  return { request: { format, ...read }, before, signal };
}

interface Source {
  /** The next piece, null at the end. */
  read: () => Promise<Buffer | null>;
  /** Destroys the stream. */
  signal: AbortSignal | undefined;
  /** Called once, when the stream is at its end or destroyed. */
  onEnd: () => void;
  /** What the stream fails with, for an error of the engine. */
  translate: (error: unknown) => unknown;
}

/** The bytes of an export. They are made while they are read. */
export function exportStream({ read, signal, onEnd, translate }: Source): Readable {
  return new Readable({
    highWaterMark: HIGH_WATER_MARK,
    ...(signal === undefined ? {} : { signal }),
    read() {
      awaitNative(read).then(
        (piece) => this.push(piece),
        (error) => this.destroy(translate(error) as Error),
      );
    },
    destroy(error, callback) {
      onEnd();
      callback(error);
    },
  });
}

function unchecked(_: string, value: unknown): unknown {
  return value;
}
