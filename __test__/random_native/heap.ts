/** Runs the random native program, and judges each dump that it asks for. */
import { captureDump } from "@warpo/heap-analyzer/capture";
import { type Answers, ask } from "./answers.ts";
import type { Build } from "./builds.ts";
import { Disagreement, type Judged, judgeDump } from "./judge.ts";
import { Log } from "./log.ts";

/** The export of a module that was prepared for dumps. */
const STACK_POINTER = "__warpo_heap_analyzer:stack_pointer";

export interface HeapOutcome {
  judged: Judged[];
  failure: string | undefined;
}

/** What a test changes to see whether the judge notices. */
export interface Lies {
  /** Changes the answers of the analyzer. */
  answers?: (answers: Answers, log: Log) => void;
  /** Changes the dump before it is read. */
  dump?: (dump: Uint8Array, log: Log) => void;
  /** Leaves out calls of the log. */
  log?: (name: string, nth: number) => boolean;
}

/** Small heaps find mistakes that are easy to understand; large ones have more segments. */
export function stepsOf(seed: number): number {
  return [30, 150, 600, 1500][seed % 4] as number;
}

/** Makes the heap of a seed. */
export function judgeHeap(
  { wasm, module, allocator }: Build,
  seed: number,
  steps: number,
  lies: Lies = {},
): HeapOutcome {
  const outcome: HeapOutcome = { judged: [], failure: undefined };
  let exports: WebAssembly.Exports;
  const memory = () => (exports.memory as WebAssembly.Memory).buffer;
  const stackPointer = () => (exports[STACK_POINTER] as WebAssembly.Global).value as number;
  const addressOf = (name: string) => (exports[name] as () => number)() >>> 0;
  let bottom = 0;
  const log: Log = new Log(memory, () => {
    log.checkMemory();
    const dump = captureDump(exports);
    lies.dump?.(dump, log);
    const answers = ask(dump, wasm);
    lies.answers?.(answers, log);
    const stack = { start: stackPointer(), end: bottom };
    const classes = { small: addressOf("small_class"), large: addressOf("large_class") };
    outcome.judged.push(judgeDump(log, answers, { bytes: memory(), stack, classes }, allocator));
  });
  const imports = lies.log ? leavingOut(log.imports, lies.log) : log.imports;
  exports = new WebAssembly.Instance(module, { ...unused(module), log: imports }).exports;
  bottom = stackPointer();
  (exports._initialize as () => void)();
  try {
    (exports.run as (seed: number, steps: number) => void)(seed, steps);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    outcome.failure =
      error instanceof Disagreement ? error.message : `${error.name}: ${error.message}`;
  }
  return outcome;
}

/** What the C library of a compiler imports, and the program does not use. */
function unused(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: WebAssembly.Imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    imports[from] = { ...imports[from], [name]: () => 0 };
  return imports;
}

function leavingOut(
  imports: Log["imports"],
  isLeftOut: (name: string, nth: number) => boolean,
): Log["imports"] {
  let nth = 0;
  const entries = Object.entries(imports).map(([name, run]) => {
    const filtered = (...values: number[]) => {
      if (!isLeftOut(name, nth++)) run(...values);
    };
    return [name, filtered];
  });
  return Object.fromEntries(entries);
}
