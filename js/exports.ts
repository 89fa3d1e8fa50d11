/** Exports of a loaded heap: their formats and options, checked, and the streams of their bytes. */
import { Readable } from "node:stream";
import { invalidArgument } from "./errors.js";
import { EXPORTS } from "./generated/options.js";
import type * as native from "./native.js";
import { awaitNative } from "./native_errors.js";
import { type Check, checksOf, invalidOption } from "./option_facts.js";
import { readOptions, watchOptions } from "./options.js";

/** What the engine reads in another form than the options have. */
const OWN: Record<string, Check> = {
  dumpId: sha256,
  moduleId: sha256,
  capturedAt: time,
  labels: texts,
};

/** What a table needs to know of its dump. */
const NEEDED_FACTS = ["dumpId", "capturedAt", "dumpSize", "source", "labels"];
/** A heap snapshot has no module. */
const DUMP_FACTS = [...NEEDED_FACTS, "moduleId"];

/** Bytes that wait in a stream for its reader: less than a piece, so no more than one piece waits. */
const HIGH_WATER_MARK = 1 << 16;

/** A format with its options in the form in which the engine reads them, and what is not for the engine. */
export function exportRequest(format: unknown, options: unknown) {
  const names = Object.keys(EXPORTS);
  if (typeof format !== "string") throw invalidArgument("format", "a string", format);
  if (!isFormat(format)) {
    throw invalidOption(`format: found ${format.slice(0, 100)}; expected ${names.join(", ")}`);
  }
  const checks = { ...checksOf(EXPORTS[format], OWN), before: unchecked, signal: unchecked };
  const { before, signal: _, ...read } = readOptions(options, checks, "sync");
  const { signal } = watchOptions(options as object);
  const request = format === "parquet" ? tableRequest(read) : read;
  return { request: { format, ...request }, before, signal };
}

/** The options of a table: those of the dump are apart. */
function tableRequest(options: Record<string, unknown>) {
  const read: Record<string, unknown> = { labels: {}, source: "", ...options };
  for (const name of ["table", ...NEEDED_FACTS]) {
    if (read[name] === undefined) {
      throw invalidOption(`options.${name}: found none; expected one: a table is for many dumps`);
    }
  }
  const entries = Object.entries(read);
  const isFact = ([name]: [string, unknown]) => DUMP_FACTS.includes(name);
  return {
    ...Object.fromEntries(entries.filter((entry) => !isFact(entry))),
    dump: Object.fromEntries(entries.filter(isFact)),
  };
}

interface ExportSource {
  handle: native.ExportHandle;
  control: native.WorkControl;
  /** Destroys the stream. */
  signal: AbortSignal | undefined;
  /** Called once, when the stream is at its end or destroyed. */
  onEnd: () => void;
  /** What the stream fails with, for an error of the engine. */
  translate: (error: unknown) => unknown;
}

/** The bytes of an export. They are made while they are read. */
export function exportStream(source: ExportSource): Readable {
  const { handle, control, signal, onEnd, translate } = source;
  const read = async () => {
    const length = await handle.wait(control);
    if (length === 0) return null;
    const piece = Buffer.allocUnsafeSlow(length);
    handle.take(piece);
    return piece;
  };
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

function isFormat(name: string): name is keyof typeof EXPORTS {
  return Object.hasOwn(EXPORTS, name);
}

function sha256(name: string, value: unknown): unknown {
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value;
  throw invalidArgument(name, "a SHA-256 in 64 hexadecimal digits", value);
}

/** In milliseconds since 1970. */
function time(name: string, value: unknown): unknown {
  const milliseconds =
    Object.prototype.toString.call(value) === "[object Date]" ? Number(value) : Number.NaN;
  if (Number.isNaN(milliseconds)) throw invalidArgument(name, "a valid Date", value);
  return milliseconds;
}

function texts(name: string, value: unknown): unknown {
  if (typeof value === "object" && value !== null) {
    if (Object.values(value).every((text) => typeof text === "string")) return value;
  }
  throw invalidArgument(name, "an object whose values are strings", value);
}

function unchecked(_: string, value: unknown): unknown {
  return value;
}
