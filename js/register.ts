/**
 * Exposes the globals of all instances of a program, without a change to the program:
 *
 * ```sh
 * node --import @warpo/heap-analyzer/register app.js
 * ```
 *
 * or `import "@warpo/heap-analyzer/register"` before the import that instantiates the module. From
 * then on every module that is compiled in this thread is exposed (see `exposeGlobals`). `captureDump`
 * and `writeDump` then accept any object that has the memory of an instance: its exports, the instance,
 * a loader's result, the namespace of a module that `asc --bindings` wrote.
 *
 * These environment variables are read at start:
 * - `HEAP_DUMP_SIGNAL`: at this signal (`SIGUSR2`, …), dumps of all instances are written.
 * - `HEAP_DUMP_AT_TRAP=1`: when a trap, or an exception that a call of the program threw, is not caught, dumps of all
 *   instances are written before the process ends. A failed `memory.grow` ends in a trap too.
 * - `HEAP_DUMP_ABOVE_MIB`: when the memory of an instance is larger than this, one dump of it is written.
 * - `HEAP_HANDLES=1`: remember who pinned which object. Each dump `x.dump` then gets a file `x.handles.json` beside it,
 *   with the stacks of the pins. The first 1,000 pins of an instance have stacks, later ones by samples; with
 *   `HEAP_HANDLES=all`, every pin has one.
 * - `HEAP_DUMP_DIRECTORY`: the folder for these dumps. Default: `heap-dumps` in the working directory.
 *
 * A program that imports `MemoryDump.dumpMemoryRegion` can write dumps of itself below that folder.
 *
 * @module
 */

import { types } from "node:util";

import { resolveDumpModule } from "./capture/dump_module.js";
import { interceptWebAssembly } from "./capture/interception.js";
import { dumpAboveMemory, dumpAtTrap } from "./capture/moments.js";
import { pinWatcher } from "./capture/pin_log.js";
import { dumpAtSignal } from "./capture/signal.js";
import { exposeGlobals } from "./capture.js";

interceptWebAssembly((source) => {
  if (types.isUint8Array(source)) return exposeGlobals(source);
  if (types.isTypedArray(source)) {
    return exposeGlobals(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));
  }
  if (types.isAnyArrayBuffer(source)) return exposeGlobals(new Uint8Array(source));
  throw new TypeError("not the bytes of a module");
}, pinWatcher(process.env.HEAP_HANDLES));

const signal = process.env.HEAP_DUMP_SIGNAL;
if (signal) dumpAtSignal(signal);

if (process.env.HEAP_DUMP_AT_TRAP === "1") dumpAtTrap();

const limit = process.env.HEAP_DUMP_ABOVE_MIB;
if (limit) dumpAboveMemory(limit);

resolveDumpModule();
