// Writes a dump, a heap snapshot of V8 and the numbers that the snapshot does not show, all of one moment.
//
// The order matters. The snapshot comes first: what the inspector looks at later would be in it, and only objects of a
// snapshot have ids. The memory of the program does not change meanwhile, because nothing else runs in this turn.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { writeHeapSnapshot } from "node:v8";
import { HeapAnalyzerError } from "../errors.js";
import { identifyDump, writeNumbers } from "../numbers/file.js";
import { readNumbers } from "../numbers/read.js";
import type { HostNumbers, NumbersRead } from "../numbers/types.js";
import { reason, resolveSymlinks } from "../whole_file.js";
import { writeDumpFile } from "./dump_file.js";
import { handlesPath } from "./handles_file.js";
import { OwnSession } from "./own_session.js";
import { quote } from "./quote.js";
import { type CaptureOptions, takeSnapshot } from "./snapshot.js";

/** Options of `capturePair`. */
export interface PairOptions extends CaptureOptions {
  /**
   * Also read the variables of all functions of the program: those of blocks are in no heap snapshot. Takes seconds for
   * some thousand functions. Default: false.
   */
  closures?: boolean | undefined;
}

/** The files of `capturePair`. */
export interface CapturedPair {
  /** The dump: `<prefix>.dump`. */
  dump: string;
  /** The heap snapshot: `<prefix>.heapsnapshot`. */
  host: string;
  /** The numbers that the heap snapshot does not show: `<prefix>.numbers.json`. */
  numbers: string;
  /** Who pinned what: `<prefix>.handles.json`. Absent if `register` does not watch it (`HEAP_HANDLES`). */
  handles?: string;
  /** What was read for the numbers file. */
  read: NumbersRead;
}

/** Where the scripts of this package are, whose constants may equal addresses. */
const OWN_SCRIPTS = pathToFileURL(join(__dirname, "..")).href;
/** In the header of a dump, the offset of the start of the heap. */
const HEAP_BASE = 12;

/**
 * Writes the three files. Each appears only when all are complete.
 *
 * @throws {HeapAnalyzerError} the errors of `takeSnapshot`; `ERR_DUMP_PATH`, `ERR_DUMP_WRITE`, `ERR_INSPECTOR`.
 */
export function writePair(
  target: object,
  prefix: string,
  options: PairOptions | null | undefined,
): CapturedPair {
  // Both may fail, and the heap snapshot before them takes long.
  takeSnapshot(target, options);
  new OwnSession().close();
  const absolute = resolve(prefix);
  const paths = {
    dump: `${absolute}.dump`,
    host: `${absolute}.heapsnapshot`,
    numbers: `${absolute}.numbers.json`,
  };
  let folder: string | undefined;
  try {
    mkdirSync(dirname(absolute), { recursive: true });
    for (const path of Object.values(paths)) checkPlace(path);
    // Beside the files, so that they only have to be renamed.
    folder = mkdtempSync(join(dirname(absolute), ".warpo-heap-analyzer-"));
    const inside = { dump: join(folder, "d"), host: join(folder, "h"), numbers: join(folder, "n") };
    const read = writeInto(inside, target, options);
    for (const kind of ["dump", "host", "numbers"] as const) {
      renameSync(inside[kind], resolveSymlinks(paths[kind]));
    }
    const handles = handlesPath(paths.dump);
    if (!existsSync(handlesPath(inside.dump))) return { ...paths, read };
    renameSync(handlesPath(inside.dump), resolveSymlinks(handles));
    return { ...paths, handles, read };
  } catch (error) {
    if (error instanceof HeapAnalyzerError) throw error;
    throw new HeapAnalyzerError(
      "ERR_DUMP_WRITE",
      `cannot write the dump ${quote(paths.dump)} and the files beside it: ${reason(error)}`,
      { cause: error },
    );
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function checkPlace(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new HeapAnalyzerError(
      "ERR_DUMP_PATH",
      `cannot write ${quote(path)}: it exists and is not a regular file`,
    );
  }
}

function writeInto(
  paths: Record<"dump" | "host" | "numbers", string>,
  target: object,
  options: PairOptions | null | undefined,
): NumbersRead {
  writeHeapSnapshot(paths.host, { exposeNumericValues: true });
  const snapshot = takeSnapshot(target, options);
  writeDumpFile(snapshot, paths.dump);
  const lo = Buffer.from(snapshot.header.buffer).readUInt32LE(HEAP_BASE);
  const numbers = readOwnNumbers({ lo, hi: snapshot.memorySize }, options?.closures === true);
  const file = openSync(paths.numbers, "wx", 0o600);
  try {
    writeNumbers(file, identifyDump(paths.dump), numbers);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return numbers.read;
}

/** Reads the numbers of this thread. */
function readOwnNumbers(range: { lo: number; hi: number }, closures: boolean): HostNumbers {
  const session = new OwnSession();
  try {
    const realms = session.realms();
    if (!closures) return session.hold(readNumbers(realms, range));
    const scripts = session.scripts();
    const isOfProgram = (script: string) => {
      const url = scripts.get(script) ?? "node:";
      return !url.startsWith("node:") && !url.startsWith(OWN_SCRIPTS);
    };
    return session.hold(readNumbers(realms, range, { isOfProgram }));
  } finally {
    session.close();
  }
}
