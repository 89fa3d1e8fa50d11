/**
 * The import module `MemoryDump` of programs that write dumps of themselves, for bindings that
 * instantiate the module when they are imported (`asc --bindings esm`).
 *
 * With `node --import @warpo/heap-analyzer/register` (and Node 20.6 or newer), `import "MemoryDump"`
 * loads this module. Dumps go below the folder `HEAP_DUMP_DIRECTORY`; its default is `heap-dumps` in the
 * working directory. See `memoryDump` for the paths that a program may pass.
 *
 * @module
 */

import { dumpDirectory } from "./capture/dump_files.js";
import { memoryDump } from "./capture/memory_dump.js";

const dumps = memoryDump({ directory: dumpDirectory() });

/** Writes a dump of the calling instance. Takes the address and the size in bytes of a path. */
export const dumpMemoryRegion: (filePathOffset: number, filePathSize: number) => void =
  dumps.MemoryDump.dumpMemoryRegion;
