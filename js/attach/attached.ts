// What a program that is attached to can be asked, whatever it is read through.

/** A WebAssembly instance of the target that has a memory. */
export interface AttachedInstance {
  /** `main`, or the name or address of a worker. */
  thread: string;
  /** The global object that the instance belongs to: of a page, a frame, or a context of `node:vm`. */
  realm: string;
  /** The engine's name of the module: `wasm://wasm/<name>-<hash>`. */
  module: string;
  /** The size of the memory in bytes. */
  memorySize: number;
  /** Of what was seen from outside: the bytes in pages of 4 KiB that are not only zeros. */
  usedSize?: number | undefined;
}

/** Options of {@link Attached.writeDump}. */
export interface AttachedDumpOptions {
  /**
   * Which instance, by its position in {@link Attached.instances}. Needed if there are several; the HTTP parser of Node
   * itself does not count.
   */
  instance?: number | undefined;
  /** Where to write the module that the instance was made from. Default: nowhere. */
  wasmOutput?: string | URL | undefined;
  /**
   * Where to write a heap snapshot of V8, of the thread of the instance. The thread is paused, so that the snapshot
   * and the dump are of the same moment. Default: nowhere.
   */
  hostOutput?: string | URL | undefined;
  /**
   * Where to write the numbers that the heap snapshot does not show: those in arrays, maps, sets, `Number` objects and
   * typed arrays. Needs `hostOutput`. Default: nowhere.
   */
  numbersOutput?: string | URL | undefined;
  /** With `numbersOutput`: also the variables of functions. Takes seconds for some thousand functions. Default: false. */
  closures?: boolean | undefined;
  /**
   * Where to write the WebAssembly functions that were running, with their locals and operands: JSON, an object with
   * `frames`, a list of `PausedFrame`. The thread is paused in the middle of its work, so the stack is not empty.
   * Default: nowhere.
   */
  framesOutput?: string | URL | undefined;
}

/** A process or a page to which this process is attached. */
export interface Attached {
  /** The instances that were alive at the moment of `attach`, by thread and realm. */
  readonly instances: readonly AttachedInstance[];
  /** If there are no instances: why not, as a sentence. */
  readonly whyNone?: string | undefined;
  /**
   * Writes a dump of an instance. The dump is taken between two turns of the program's event loop, so that the
   * stack is empty. A program that does not come to rest within 5 s is interrupted instead. With
   * `hostOutput`, it is paused between two turns, or after 5 s in the middle of its work.
   *
   * @returns sentences about what may be wrong with the dump.
   * @throws {HeapAnalyzerError} `ERR_INVALID_OPTION`, `ERR_INSTANCE_AMBIGUOUS`, `ERR_GLOBAL_MISSING` (compiled with
   *   a runtime without a collector), `ERR_DUMP_PATH`, `ERR_DUMP_WRITE`, `ERR_ATTACH_ANSWER` or `ERR_ATTACH_TIMEOUT`.
   */
  writeDump(path: string | URL, options?: AttachedDumpOptions): Promise<string[]>;
  /** The module that an instance was made from. */
  module(instance: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Milliseconds for which the target has stood still so far, or ran slower because its module was read. */
  readonly stopped: number;
  /** How the last dump was taken from outside, as a sentence. */
  readonly howTaken?: string | undefined;
  /** Ends the connection. If `attach` opened the inspector of a process, it is closed again. */
  close(): Promise<void>;
}
