/**
 * What to do about an error or a warning of the engine. The engine's texts state facts, because it does not know how
 * it was called. This table says the rest in the words of each surface: options of the command line, options of the
 * API, arguments of the tools for agents.
 */

/** Who shows the text: the command line, the functions of the package, or a server for agents and editors. */
export type Surface = "cli" | "api" | "agent";

/** The same words on every surface. */
function everywhere(advice: string): Record<Surface, string> {
  return { cli: advice, api: advice, agent: advice };
}

const WRITE_DUMPS = "write dumps with @warpo/heap-analyzer/capture";

const ADVICE: Readonly<Record<string, Partial<Record<Surface, string>>>> = {
  ERR_DUMP_MAGIC: {
    cli: `pass the dump first, then the module: <dump-file> --wasm <module>; ${WRITE_DUMPS}`,
    api: `pass the dump first, then the module; ${WRITE_DUMPS}`,
    agent: "list_dumps lists the dumps",
  },
  ERR_MODULE_MISSING: {
    cli: "pass the module with --wasm",
    api: "pass the module as the argument wasm",
    agent: "name the module with wasm",
  },
  ERR_HPROF_WITH_MODULE: {
    cli: "leave out --wasm",
    api: "leave out the argument wasm",
    agent: "leave out wasm",
  },
  ERR_HPROF_TRUNCATED: {
    cli: "take the dump again; --partial reads what is complete",
    api: "take the dump again; partial: true reads what is complete",
    agent: "take the dump again; partial: true reads what is complete",
  },
  ERR_SNAPSHOT_WITH_MODULE: {
    cli: "leave out --wasm",
    api: "leave out the argument wasm",
    agent: "leave out wasm",
  },
  ERR_MODULE_MISMATCH: {
    cli: "--force reads a dump of another module, and then every number may be wrong",
    api: "force: true reads a dump of another module, and then every number may be wrong",
    agent: "name the module of this dump with wasm",
  },
  ERR_HEAP_CORRUPT: {
    cli: "--partial reports the part before the damage",
    api: "partial: true reports the part before the damage",
    agent: "partial: true reads the part before the damage",
  },
  ERR_COMPILER_TOO_OLD: everywhere("compile the program with AssemblyScript 0.24 or newer"),
  ERR_SNAPSHOT_TRUNCATED: {
    cli: "--partial reads one that ends in its texts, which are its last part",
    api: "partial: true reads one that ends in its texts, which are its last part",
    agent: "partial: true reads one that ends in its texts, which are its last part",
  },
  ERR_COREDUMP_WITHOUT_MEMORY: everywhere(WRITE_DUMPS),
  ERR_COREDUMP_INSTANCE: {
    cli: "--coredump-instance chooses one",
    api: "coredumpInstance chooses one",
    agent: "coredumpInstance chooses one",
  },
  ERR_RAW_MEMORY: {
    cli: "without --raw, heap dumps and coredumps are recognised",
    api: "without raw, heap dumps and coredumps are recognised",
    agent: "without raw, heap dumps and coredumps are recognised",
  },
  WARN_RAW_GLOBALS_ASSUMED: {
    cli: "--global gives a value",
    api: "globals gives values",
    agent: "globals gives values",
  },
  WARN_RAW_STACK_ASSUMED_EMPTY: {
    cli: "--global gives its value",
    api: "globals gives its value",
    agent: "globals gives its value",
  },
  ERR_TOO_FEW_DUMPS: {
    cli: "--min-dumps sets the number that is needed",
    api: "minDumps sets the number that is needed",
  },
  ERR_INSPECTOR_CLOSED: {
    cli: "--inspector opens it by the signal SIGUSR1; a program started with node --inspect=127.0.0.1:0 prints an address to attach to",
    api: "inspector: true opens it by the signal SIGUSR1; a program started with node --inspect=127.0.0.1:0 prints an address to attach to",
    agent:
      "the server opens it if it was started with --inspector; a program started with node --inspect=127.0.0.1:0 prints an address for --attach",
  },
  ERR_OUTSIDE_MEMORY: {
    cli: "of a Node process, --inspector opens the inspector by the signal SIGUSR1; a program started with node --inspect=127.0.0.1:0 prints an address to attach to",
    api: "of a Node process, inspector: true opens the inspector by the signal SIGUSR1; a program started with node --inspect=127.0.0.1:0 prints an address to attach to",
    agent: "of a Node process, the server opens the inspector if it was started with --inspector",
  },
  ERR_OUTSIDE_MODULE: everywhere("pass the module that runs in this process"),
  ERR_OUTSIDE_GLOBALS: everywhere(
    "the inspector of a Node process has the values of globals; a program that is compiled with debug information has more of them",
  ),
  ERR_OUTSIDE_REFUSED: everywhere(
    "docs/capture.md has what to do on a machine, in Docker, and in Kubernetes",
  ),
  ERR_GLOBAL_MISSING: everywhere(
    "compile AssemblyScript with --runtime incremental and --debug, and other languages with names: without --strip-all or -Cstrip",
  ),
  ERR_ALLOCATOR_UNKNOWN: everywhere(
    "C, C++ and Rust use dlmalloc unless they say otherwise; profile also reports allocations of Go",
  ),
  ERR_ALLOCATOR_MISSING: everywhere(
    "for names, compile with asc --debug, clang without --strip-all, or go without -ldflags=-s; for Zig, with -O Debug or -lc",
  ),
  WARN_GLOBALS_MISSING: everywhere(WRITE_DUMPS),
  WARN_NAMES_MISSING: everywhere("compile with --debug for names"),
  WARN_NAMES_INCOMPLETE: everywhere(
    "if the module has no debug information, asc adds it with --transform @warpo/heap-analyzer/asc-transform",
  ),
  WARN_ROOTS_UNKNOWN: everywhere("compile with --debug"),
  WARN_HOST_ROOTS_UNKNOWN: {
    cli: "--root gives a pointer that the host holds",
    api: "hostRoots gives the pointers that the host holds",
    agent: "hostRoots gives the pointers that the host holds",
  },
  WARN_FRAMES_ACTIVE: everywhere("take the dump between two calls of the program"),
  WARN_STACK_BOUNDS_GUESSED: everywhere("link with --export=__data_end"),
};

/** The codes with advice. */
export const CODES: readonly string[] = Object.keys(ADVICE);

/** What to do about an error or a warning with this code, if the text of the engine does not say all of it. */
export function adviceFor(surface: Surface, code: unknown): string | undefined {
  if (typeof code !== "string" || !Object.hasOwn(ADVICE, code)) return undefined;
  return ADVICE[code]?.[surface];
}

/** The text of an error or a warning, followed by what to do. */
export function withAdvice(surface: Surface, code: unknown, message: string): string {
  const advice = adviceFor(surface, code);
  return advice === undefined ? message : `${message}; ${advice}`;
}
