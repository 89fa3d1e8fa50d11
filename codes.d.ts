/** The codes of errors and warnings. `docs/errors.md` also says what to do. */
// Written by `just generate` from that page: change it there.
/** The `code` of an error: what stopped an analysis or a capture. */
export type ErrorCode =
  /** The file is no dump. */
  | "ERR_DUMP_MAGIC"
  /** A dump format that this version does not read. */
  | "ERR_DUMP_VERSION"
  /** The file ends too early. */
  | "ERR_DUMP_TRUNCATED"
  /** The header contradicts the memory. */
  | "ERR_DUMP_BOUNDARY"
  /** The header contradicts the memory. */
  | "ERR_DUMP_BOUNDARY_ORDER"
  /** More than 4 GiB of memory, or too large for one array. */
  | "ERR_DUMP_TOO_LARGE"
  /** The file changed while it was read, or after it was opened. */
  | "ERR_DUMP_CHANGED"
  /** A part of the coredump cannot be read; the message has the offset. */
  | "ERR_COREDUMP"
  /** The coredump has frames only, as those of WasmEdge. */
  | "ERR_COREDUMP_WITHOUT_MEMORY"
  /** No instance in the coredump is of the module; the message lists them. */
  | "ERR_COREDUMP_MODULE"
  /** Several instances in the coredump are of the module; the message lists them. */
  | "ERR_COREDUMP_INSTANCE"
  /** The gzip or zstd file is damaged or truncated. */
  | "ERR_COMPRESSED"
  /** A small file stands for too much memory. */
  | "ERR_OUT_OF_PROPORTION"
  /** The file that `--raw` names is not raw memory. */
  | "ERR_RAW_MEMORY"
  /** The heap contradicts the rules of the allocator. */
  | "ERR_HEAP_CORRUPT"
  /** Containers overlap. */
  | "ERR_TOO_MANY_REFERENCES"
  /** The module is of AssemblyScript 0.23.1 or older, whose class ids are others. */
  | "ERR_COMPILER_TOO_OLD"
  /** The file is no module, or cannot be read. */
  | "ERR_MODULE"
  /** A 64-bit memory, or no memory; a side module (`-shared`, `-sSIDE_MODULE`). */
  | "ERR_MODULE_KIND"
  /** More than 1 GiB. */
  | "ERR_MODULE_TOO_LARGE"
  /** The dump is not of this module, or its objects do not have the fields of its classes. */
  | "ERR_MODULE_MISMATCH"
  /** A dump without a module. */
  | "ERR_MODULE_MISSING"
  /** Of AssemblyScript: the runtime `stub`, which frees nothing; of other languages: no stack pointer is found. */
  | "ERR_GLOBAL_MISSING"
  /** The debug information cannot be read. */
  | "ERR_DEBUG_INFO"
  /** The file with names of functions has none, or is of another module. */
  | "ERR_SYMBOLS"
  /** The source map cannot be read. */
  | "ERR_SOURCE_MAP"
  /** The file is no heap snapshot, or contradicts itself. */
  | "ERR_SNAPSHOT"
  /** The file ends too early. */
  | "ERR_SNAPSHOT_TRUNCATED"
  /** A snapshot was given with a module that names none of its objects: the snapshot has no instance of the module, or the module has no types of WasmGC. */
  | "ERR_SNAPSHOT_WITH_MODULE"
  /** The file is no heap dump of a JVM that can be read, or contradicts itself; the message says at which offset. */
  | "ERR_HPROF"
  /** A heap dump of a JVM ends too early: the JVM was stopped, or the disk was full. */
  | "ERR_HPROF_TRUNCATED"
  /** A heap dump of a JVM was given with a module. */
  | "ERR_HPROF_WITH_MODULE"
  /** A dump compared with a snapshot. */
  | "ERR_DUMP_WITH_SNAPSHOT"
  /** `waste` of a program of C, C++, Rust or Zig. */
  | "ERR_NOT_IN_NATIVE_HEAP"
  /** A question that a heap dump of a JVM does not answer. */
  | "ERR_NOT_IN_HPROF"
  /** A question about what a snapshot does not contain, such as ids that mean something in another one. */
  | "ERR_NOT_IN_SNAPSHOT"
  /** The file of numbers cannot be read. */
  | "ERR_NUMBERS"
  /** The numbers belong to another dump. */
  | "ERR_NUMBERS_MOMENT"
  /** The dump is a heap snapshot, or the heap of the host is none. */
  | "ERR_HOST_KIND"
  /** An address of the dump, or an id of the snapshot, is 2³¹ or more. */
  | "ERR_HOST_TOO_LARGE"
  /** A declared slot is not in the heaps. */
  | "ERR_HOST_SLOT"
  /** `waste`, `unreachable`, `sites`, `growth`, `export` or a comparison of joined heaps. */
  | "ERR_NOT_IN_JOINED"
  /** No object at this address. */
  | "ERR_NO_OBJECT"
  /** No live object of this class. */
  | "ERR_UNKNOWN_CLASS"
  /** An expression of `--where` or `--group-by` does not compile. */
  | "ERR_WHERE"
  /** Not a place table of this version. */
  | "ERR_PLACE_TABLE"
  /** `check` has too few dumps. */
  | "ERR_TOO_FEW_DUMPS"
  /** `expectNoLeak` found growth. */
  | "ERR_LEAK"
  /** `expectNoLeak` has not ended within its time limit. */
  | "ERR_TIME_LIMIT"
  /** A warning says that numbers may be wrong. */
  | "ERR_INCONCLUSIVE"
  /** Used after `close`. */
  | "ERR_HEAP_CLOSED"
  /** Used after `close`. */
  | "ERR_VIEW_CLOSED"
  /** The profile cannot be used. */
  | "ERR_PROFILE"
  /** The profiler does not find the allocator, or a compiler copied it into the functions that allocate, as with `#[global_allocator]` of Rust. */
  | "ERR_ALLOCATOR_MISSING"
  /** A program of Go or TinyGo; one of C, C++, Rust or Zig whose allocator is not one that can be read, such as wee_alloc, or that did not allocate yet. */
  | "ERR_ALLOCATOR_UNKNOWN"
  /** The module was not exposed. */
  | "ERR_GLOBALS_NOT_EXPOSED"
  /** Several instances use this memory. */
  | "ERR_INSTANCE_AMBIGUOUS"
  /** The instance exports no memory. */
  | "ERR_MEMORY_MISSING"
  /** No dump may be written to this path. */
  | "ERR_DUMP_PATH"
  /** The file could not be written. */
  | "ERR_DUMP_WRITE"
  /** `HEAP_DUMP_SIGNAL` is no signal that can be handled. */
  | "ERR_DUMP_SIGNAL"
  /** `capturePair` cannot use the inspector of this thread. */
  | "ERR_INSPECTOR"
  /** The program asked for a dump before `attach`. */
  | "ERR_DUMP_NOT_ATTACHED"
  /** `register` cannot replace the functions of `WebAssembly`. */
  | "ERR_WEBASSEMBLY_FROZEN"
  /** A worker asked for a download. */
  | "ERR_NO_DOCUMENT"
  /** The inspector of the process is not open. */
  | "ERR_INSPECTOR_CLOSED"
  /** The system does not let this user read the process; the message names the right that is missing. */
  | "ERR_OUTSIDE_REFUSED"
  /** No WebAssembly memory can be seen from outside. */
  | "ERR_OUTSIDE_MEMORY"
  /** The module's data is not in the memory, or the process has another module with this data. */
  | "ERR_OUTSIDE_MODULE"
  /** No place, or several, fit the globals of the module. */
  | "ERR_OUTSIDE_GLOBALS"
  /** The process changed at each moment that was tried. */
  | "ERR_OUTSIDE_CHANGED"
  /** The file is no ELF core of 64 bits, or truncated. */
  | "ERR_CORE_FILE"
  /** Nothing to attach to, not on this machine, or one of several pages is to be chosen. */
  | "ERR_ATTACH_TARGET"
  /** The target answers wrongly or too late. */
  | "ERR_ATTACH_ANSWER"
  /** The target answers wrongly or too late. */
  | "ERR_ATTACH_TIMEOUT"
  /** An argument or an option is wrong. */
  | "ERR_INVALID_ARG_TYPE"
  /** An argument or an option is wrong. */
  | "ERR_INVALID_ARG_VALUE"
  /** An argument or an option is wrong. */
  | "ERR_INVALID_OPTION"
  /** The bytes were transferred, or their buffer was resized. */
  | "ERR_BUFFER_DETACHED"
  /** The bytes were transferred, or their buffer was resized. */
  | "ERR_BUFFER_OUT_OF_BOUNDS"
  /** A file cannot be read or written. */
  | "ERR_IO"
  /** Two arguments name one pipe. */
  | "ERR_SAME_PIPE"
  /** The system gives no more memory or threads. */
  | "ERR_OUT_OF_MEMORY"
  /** The system gives no more memory or threads. */
  | "ERR_NO_THREADS"
  /** The addon for this platform is missing. */
  | "ERR_NO_BINARY"
  /** A defect of the analyzer. */
  | "ERR_INTERNAL"
  /** The `signal` was aborted. */
  | "ABORT_ERR";

/** The `code` of a warning: why a number may be wrong. Each says which live sizes and counts are affected. */
export type WarningCode =
  /** Live sizes and counts: too low: objects that only such globals keep alive are missing. */
  | "WARN_GLOBALS_MISSING"
  /** Live sizes and counts: too low: objects that only such globals keep alive are missing. */
  | "WARN_GLOBAL_UNKNOWN"
  /** Live sizes and counts: only with `--raw`: too low, as objects that only these values keep alive are missing. */
  | "WARN_RAW_GLOBALS_ASSUMED"
  /** Live sizes and counts: only with `--raw`: too low, as objects that only these values keep alive are missing. */
  | "WARN_RAW_STACK_ASSUMED_EMPTY"
  /** Live sizes and counts: too low. */
  | "WARN_GLOBAL_NOT_AN_OBJECT"
  /** Live sizes and counts: too high. */
  | "WARN_ROOTS_UNKNOWN"
  /** Live sizes and counts: too high. */
  | "WARN_ROOTS_INCOMPLETE"
  /** Live sizes and counts: too high: numbers equal to an address count as references. */
  | "WARN_BASES_UNKNOWN"
  /** Live sizes and counts: either way: the class has a visitor of its own, which could not be run on its objects. */
  | "WARN_VISITOR_NOT_RUN"
  /** Live sizes and counts: too high: numbers equal to an address count as references. */
  | "WARN_CLASS_UNKNOWN"
  /** Live sizes and counts: exact; the savings of `waste` are too low: what such objects contain is not known. */
  | "WARN_CONTENTS_UNKNOWN"
  /** Live sizes and counts: exact; `check` looked for no growing places, because there are too few dumps. */
  | "WARN_GROWTH_NOT_CHECKED"
  /** Live sizes and counts: always for programs of C and Rust: references are words that are addresses in blocks. */
  | "WARN_CONSERVATIVE"
  /** Live sizes and counts: functions of such a program may have been running: what only their local variables hold counts as unreferenced. */
  | "WARN_FRAMES_ACTIVE"
  /** Live sizes and counts: blocks of such a program are unreferenced, and the host, which calls its functions, may hold them. */
  | "WARN_HOST_ROOTS_UNKNOWN"
  /** Live sizes and counts: a pointer that the host is said to hold is in no block, so what it should keep counts as unreferenced. */
  | "WARN_HOST_ROOT_ELSEWHERE"
  /** Live sizes and counts: a dump and a profile of the same moment have different blocks: those without a sample have no line. */
  | "WARN_PROFILE_DIFFERS"
  /** Live sizes and counts: most memory of such a program is in blocks that another allocator divides: its objects are not seen. */
  | "WARN_NESTED_ALLOCATOR"
  /** Live sizes and counts: the module has no allocator: there are no blocks, and all numbers are 0. */
  | "WARN_NO_ALLOCATOR"
  /** Live sizes and counts: the module was made from the memory of a running program: initialised words count as references, so fewer blocks are unreferenced. */
  | "WARN_DATA_SNAPSHOT"
  /** Live sizes and counts: the static data of such a program may end earlier: fewer unreferenced blocks than there are. */
  | "WARN_STACK_BOUNDS_GUESSED"
  /** Live sizes and counts: too low: blocks of Zig's allocator in full pages are missing. */
  | "WARN_PAGES_UNKNOWN"
  /** Live sizes and counts: exact; blocks of C, C++ and Rust may be shown under no type or the wrong one. */
  | "WARN_TYPES_UNREADABLE"
  /** Live sizes and counts: exact; blocks of C, C++ and Rust may be shown under no type or the wrong one. */
  | "WARN_TYPE_CONFLICT"
  /** Live sizes and counts: exact; blocks of C, C++ and Rust may be shown under no type or the wrong one. */
  | "WARN_TYPE_GUESSED"
  /** Live sizes and counts: only for V8 heap snapshots: the savings of `waste` may be too low, because long strings are not compared. */
  | "WARN_STRINGS_CUT"
  /** Live sizes and counts: too high or exact; objects may be shown under the name of another class. */
  | "WARN_CLASS_AMBIGUOUS"
  /** Live sizes and counts: too low: contents outside the buffer are not followed. */
  | "WARN_CONTENTS_DO_NOT_FIT"
  /** Live sizes and counts: in any direction, if the dump was taken from another build. */
  | "WARN_FIELDS_DIFFER"
  /** Live sizes and counts: either way: the heap is damaged. */
  | "WARN_TOTAL_MISMATCH"
  /** Live sizes and counts: either way: headers or references contradict each other. */
  | "WARN_HEAP_INCONSISTENT"
  /** Live sizes and counts: too low: the collector was changing its lists, so objects may be missing. */
  | "WARN_LIST_BROKEN"
  /** Live sizes and counts: exact. */
  | "WARN_NAMES_MISSING"
  /** Live sizes and counts: exact. */
  | "WARN_NAMES_INCOMPLETE"
  /** Live sizes and counts: too high or exact. */
  | "WARN_GLOBAL_DISPUTED"
  /** Live sizes and counts: too high or exact. */
  | "WARN_CLASS_DISPUTED"
  /** Live sizes and counts: too low, if the end of the heap is missing; then there is also an error. */
  | "WARN_MEMORY_NOT_WHOLE_PAGES"
  /** Live sizes and counts: in any direction, if the dump was taken from another module. */
  | "WARN_MEMORY_OUTSIDE_LIMITS"
  /** Live sizes and counts: exact for each dump; the comparison may match objects that are not the same. */
  | "WARN_MEMORY_SHRANK"
  /** Live sizes and counts: exact; the ids are numbers of this tool. */
  | "WARN_IDS_RENUMBERED"
  /** Live sizes and counts: too low: a heap dump of a JVM refers to objects that it does not have. */
  | "WARN_OBJECTS_MISSING"
  /** Live sizes and counts: `diff` of two heap dumps of a JVM: objects that moved count as deleted and as new; the differences are exact. */
  | "WARN_OBJECTS_MOVED"
  /** Live sizes and counts: counts are exact; the sizes of objects are those of another kind of JVM. */
  | "WARN_SIZES_ESTIMATED"
  /** Live sizes and counts: exact for each dump; what grows, shrinks or is new may be the opposite. */
  | "WARN_OUT_OF_ORDER"
  /** Live sizes and counts: either way: objects that the stack keeps alive. */
  | "WARN_STACK_POINTER_DISPUTED"
  /** Live sizes and counts: either way: objects that the stack keeps alive. */
  | "WARN_STACK_POINTER_UNALIGNED"
  /** Live sizes and counts: exact, unless the dump was taken from another build. */
  | "WARN_STATIC_DATA_CHANGED"
  /** Live sizes and counts: too low: everything after the damage is missing. */
  | "WARN_PARTIAL"
  /** Live sizes and counts: in any direction. */
  | "WARN_MODULE_MISMATCH"
  /** Live sizes and counts: exact; unreferenced raw blocks are an estimate, or not known. */
  | "WARN_RAW_BLOCKS_ESTIMATED"
  /** Live sizes and counts: exact; unreferenced raw blocks are an estimate, or not known. */
  | "WARN_RAW_BLOCKS_NOT_SCANNED"
  /** Live sizes and counts: exact: a graph does not contain all references. */
  | "WARN_EDGES_LEFT_OUT"
  /** Live sizes and counts: in any direction, if the snapshot is of another moment. */
  | "WARN_HOST_MOMENT"
  /** Live sizes and counts: exact. */
  | "WARN_HOST_NUMBERS_MISSING"
  /** Live sizes and counts: exact: the question gave an address inside an object or a block. */
  | "WARN_ADDRESS_INSIDE"
  /** Live sizes and counts: exact; that a place grows may be chance. */
  | "WARN_FEW_DUMPS"
  /** Live sizes and counts: as the code that it names: only 100 warnings of each code are listed, and the others are counted. */
  | "WARN_MORE";
