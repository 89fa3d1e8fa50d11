/**
 * Programs that call `dump()` wherever they like. At each call the dump is analyzed, then the program's own collector runs,
 * and what it leaves is what should have been live.
 */

import { analyze, type ConstructorView, HeapAnalyzerError } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";

import { type CompilerOptions, compileDescribed } from "./compile.ts";
import { withDebugInformation } from "./debug_information.ts";
import { readTruth } from "./truth.ts";
import { exportGlobals, readWasmModule, TYPE_I32, withNames } from "./wasm_module.ts";

/** What a user may have: how the program was compiled, and what is left of debug information and names. */
export interface JudgedBuild {
  name: string;
  flags: string[];
  /** The debug information of the project's transform. */
  isDescribed: boolean;
  isNamed: boolean;
}

export const JUDGED_BUILDS: JudgedBuild[] = [
  { name: "unoptimised, described", flags: [], isDescribed: true, isNamed: true },
  { name: "unoptimised, named", flags: [], isDescribed: false, isNamed: true },
  { name: "optimised, described", flags: ["-O3"], isDescribed: true, isNamed: true },
  { name: "optimised, named", flags: ["-O3"], isDescribed: false, isNamed: true },
  { name: "optimised, nothing else", flags: ["-O3"], isDescribed: false, isNamed: false },
];

/** A dump, and how the answer differs from what the collector leaves. */
export interface JudgedDump {
  /** Objects that the collector keeps and the analyzer does not, and the other way round, by class. */
  missing: string[];
  tooMany: string[];
  /** Codes of warnings, except those about names that are not there. */
  warnings: string[];
  /** If the dump is refused: the code. */
  refused?: string;
  /** The answer. */
  view?: ConstructorView;
}

/** Whether the numbers are right and nothing is in doubt. */
export function isRight({ missing, tooMany, warnings, refused }: JudgedDump): boolean {
  return missing.length + tooMany.length + warnings.length === 0 && refused === undefined;
}

/** Whether the numbers are wrong and nothing says so. */
export function isSilent({ missing, tooMany, warnings, refused }: JudgedDump): boolean {
  return missing.length + tooMany.length > 0 && warnings.length === 0 && refused === undefined;
}

/** Compiles a program, runs it, and judges each of its dumps. */
export async function judgeProgram(
  file: string,
  build: JudgedBuild,
  options: CompilerOptions = {},
): Promise<JudgedDump[]> {
  const flags = [...build.flags, "--debug"];
  const program = await compileDescribed(file, flags, { ...options, transform: true });
  const described = withDebugInformation(
    program.wasm,
    program.description,
    build.isDescribed ? "transform" : "none",
  );
  const wasm = build.isNamed ? described : withNames(described, "none");
  return judgeModule(program.wasm, wasm, program.classNames);
}

/** A module of `asc` without debug information, with its names or without them. */
export function withNamesOnly(wasm: Uint8Array, isNamed: boolean): Uint8Array {
  return isNamed ? wasm : withNames(wasm, "none");
}

/**
 * Runs a module, and judges each of its dumps.
 *
 * @param named the module with the names of its globals, by which its collector's lists are found.
 * @param wasm the same code, as the analyzer gets it.
 * @param classNames names for what differs, by runtime id.
 */
export function judgeModule(
  named: Uint8Array,
  wasm: Uint8Array,
  classNames: Map<number, string> = new Map(),
): JudgedDump[] {
  const mutable = readWasmModule(named).globals.filter(
    (global) => global.mutable && global.type === TYPE_I32,
  );
  const exported = new Map(mutable.map(({ index }) => [`judge:${index}`, index]));
  const module = new WebAssembly.Module(
    exportGlobals(exposeGlobals(wasm), exported) as Uint8Array<ArrayBuffer>,
  );
  const judged: JudgedDump[] = [];
  const instance = new WebAssembly.Instance(module, {
    host: { dump: () => judged.push(judgeDump()) },
    env: {
      abort: () => {
        throw new Error("the program aborted");
      },
      seed: () => 1,
      cfg: () => 0,
    },
  });
  const exports = instance.exports as Record<string, WebAssembly.Global> & {
    memory: WebAssembly.Memory;
    main(): void;
    __collect(): void;
  };
  const value = (name: string) => Number(exports[name]?.value) >>> 0;
  const collected = () => {
    exports.__collect();
    const globals = new Map(
      mutable.map(({ index, name }) => [name ?? `${index}`, value(`judge:${index}`)]),
    );
    const heapBase = value("__heap_base") || value("__warpo_heap_analyzer:heap_base");
    return readTruth(exports.memory.buffer, heapBase, globals);
  };
  const judgeDump = (): JudgedDump => {
    const dump = captureDump(instance.exports);
    const answer = analyzed(dump, wasm);
    const truth = collected();
    if (typeof answer === "string")
      return { missing: [], tooMany: [], warnings: [], refused: answer };
    const found = new Map<number, string>();
    for (const { className, instances } of answer.constructors)
      for (const { address } of instances) found.set(address, className);
    const nameOf = (id: number) => classNames.get(id) ?? `${id}`;
    const warnings = answer.warnings
      .map(({ code }) => code as string)
      .filter((code) => !code.startsWith("WARN_NAMES_"));
    return {
      missing: [...truth]
        .filter(([address]) => !found.has(address))
        .map(([, { rtId }]) => nameOf(rtId)),
      tooMany: [...found].filter(([address]) => !truth.has(address)).map(([, name]) => name),
      warnings,
      view: answer,
    };
  };
  exports.main();
  return judged;
}

function analyzed(dump: Uint8Array, wasm: Uint8Array): ConstructorView | string {
  try {
    return analyze(dump, wasm);
  } catch (error) {
    if (error instanceof HeapAnalyzerError) return error.code;
    throw error;
  }
}
