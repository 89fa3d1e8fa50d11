// The host function with which a program writes a dump of itself: `MemoryDump.dumpMemoryRegion`.

import { join, resolve } from "node:path";
import { HeapAnalyzerError, invalidArgument } from "../errors.js";
import { textPath } from "../paths.js";
import { namingPath, writeAtomically } from "./dump_file.js";
import { findPlace, readGuestPath } from "./guest_path.js";
import { registry } from "./registry.js";
import { type CaptureOptions, takeSnapshot } from "./snapshot.js";

/** Options of `memoryDump`. */
export interface MemoryDumpOptions extends CaptureOptions {
  /**
   * The folder for all dumps; it is created if it is missing. The program can create folders and replace
   * any file below it, so use a separate folder.
   */
  directory: string | URL;
  /**
   * Called with the absolute path of every dump that was written. An exception from it goes through the
   * program to the program's caller, and so can stop a program that writes too many dumps. Nothing else
   * limits their number.
   */
  onDump?: (path: string) => void;
}

/**
 * Creates the import object with which a program writes dumps of itself. The program chooses the time
 * and the names of the dumps; all files are below `directory`.
 *
 * ```js
 * const dumps = memoryDump({ directory: "./dumps" });
 * const wasm = exposeGlobals(readFileSync("program.wasm"));
 * const { instance } = await WebAssembly.instantiate(wasm, { ...dumps, env });
 * dumps.attach(instance.exports);
 * ```
 *
 * A dump that cannot be written throws a `HeapAnalyzerError` through the program to its caller:
 * `ERR_DUMP_PATH` for a path that is refused (absolute, with `..`, through a link out of the
 * folder, not UTF-8, …), or `ERR_DUMP_WRITE`. A start function runs before the exports exist, so it
 * cannot write dumps (`ERR_DUMP_NOT_ATTACHED`): compile with `--exportStart` and call it after `attach`.
 * After `@warpo/heap-analyzer/register` was loaded, `attach` is not needed.
 */
export function memoryDump(options: MemoryDumpOptions): MemoryDump {
  return new MemoryDump(options);
}

/**
 * The import object, and the method to call after instantiation. It is a class, so that spreading it
 * into an import object does not copy `attach`, also for the type checker.
 */
export class MemoryDump {
  /** The import module of this name. */
  readonly MemoryDump: {
    /** `dumpMemoryRegion(filePathOffset: i32, filePathSize: i32): void` */
    dumpMemoryRegion(filePathOffset: number, filePathSize: number): void;
  };
  readonly #options: MemoryDumpOptions;
  #attached: object | undefined;

  /** Use {@link memoryDump}. */
  constructor(options: MemoryDumpOptions) {
    // Absolute, as the host may change its working directory later.
    const directory = resolve(textPath("options.directory", options?.directory));
    if (options.onDump !== undefined && typeof options.onDump !== "function") {
      throw invalidArgument("options.onDump", "a function", options.onDump);
    }
    this.#options = options;
    this.MemoryDump = {
      dumpMemoryRegion: (offset, size) => this.#dump(directory, offset, size),
    };
  }

  /**
   * Sets the exports of the instance that uses these imports.
   *
   * @throws {HeapAnalyzerError} `ERR_GLOBALS_NOT_EXPOSED` or `ERR_MEMORY_MISSING`, at once and not only
   *   at the first dump.
   */
  attach(exports: object): void {
    takeSnapshot(exports, this.#options);
    this.#attached = exports;
  }

  #dump(directory: string, filePathOffset: number, filePathSize: number): void {
    // If the functions of WebAssembly are replaced, the instance is known without `attach`.
    const instance = registry.calling ?? this.#attached;
    if (instance === undefined) {
      throw new HeapAnalyzerError(
        "ERR_DUMP_NOT_ATTACHED",
        "the program asks for a dump before attach(instance.exports) was called: attach right after " +
          "instantiation; if the program dumps in its start function, compile it with --exportStart " +
          "and call that function after attach",
      );
    }
    const snapshot = takeSnapshot(instance, this.#options);
    const names = readGuestPath(snapshot.memory, filePathOffset, filePathSize);
    const path = namingPath(join(directory, ...names), () => {
      const place = findPlace(directory, names);
      try {
        writeAtomically(snapshot, place.target, place.checkFolder);
      } finally {
        place.leave();
      }
      return place.path;
    });
    this.#options.onDump?.(path);
  }
}
