/**
 * A transform for the AssemblyScript compiler that adds the debug sections which stock `asc` does
 * not write, so that dumps of its programs can be analyzed:
 *
 *     asc entry.ts --debug --transform @warpo/heap-analyzer/asc-transform
 *
 * or, in a program, `asc.main([...], { transforms: [AscTransform] })`. The transform changes no code. It
 * adds the custom sections `debug_info`, `debug_abbrev` and `debug_str`, and exports the globals that
 * bound the heap, which an optimised build would otherwise remove.
 *
 * This module does not import the compiler: the running copy of the compiler passes its own objects.
 */
import type {
  BinaryenModule,
  Compiler,
  CompilerOptions,
  Program,
} from "./asc_transform/compiler.mjs";
import { RUNTIME_STUB, TARGET_WASM32 } from "./asc_transform/compiler.mjs";
import { describeProgram } from "./asc_transform/description.mjs";
import { encodeDebugSections } from "./native.js";

/** The globals that bound static data, shadow stack and heap, under the names that WARPO exports. */
const BOUNDARY_GLOBALS = ["__data_end", "__stack_pointer", "__heap_base"];

/** The start of every message on stderr, because a build may use several transforms. */
const TITLE = "@warpo/heap-analyzer/asc-transform";

/** The transform. The compiler creates the instance and sets its properties. */
export default class AscTransform {
  /** Set by the compiler: the program that was compiled. */
  declare readonly program: Program;
  /** Set by the compiler: its binaryen, of which `afterCompile` gets a module. */
  declare readonly binaryen: Compiler["binaryen"];
  /** Set by the compiler: where its messages go. */
  declare readonly stderr: Compiler["stderr"];

  /** Called by the compiler when the module is complete, but before it is optimised. */
  afterCompile(module: BinaryenModule): void {
    const { program, binaryen, stderr } = this;
    requireReadableProgram(program);
    requireSupportedTarget(program.options);
    if (!program.options.debugInfo) {
      stderr.write(
        `${TITLE}: warning: compiled without --debug, so the module has no name section and its globals cannot ` +
          "be found in a dump; add --debug (it works together with -O3)\n",
      );
    }
    const sections = encodeDebugSections(
      JSON.stringify(describeProgram(program, module, binaryen)),
    );
    module.addCustomSection("debug_info", sections.debugInfo);
    module.addCustomSection("debug_abbrev", sections.debugAbbrev);
    module.addCustomSection("debug_str", sections.debugStr);
    exportBoundaries(module, binaryen);
  }
}

function requireReadableProgram(program: Program): void {
  // The compiler that is built to WebAssembly (`asc --wasm`) passes pointers instead of objects.
  if (typeof program !== "object" || !(program?.managedClasses instanceof Map)) {
    throw new Error(
      `${TITLE}: cannot read the compiler's class table: expected the JavaScript build of AssemblyScript 0.27 or ` +
        "newer; do not combine --transform with --wasm",
    );
  }
}

function requireSupportedTarget(options: CompilerOptions): void {
  if (options.target !== TARGET_WASM32) {
    throw new Error(
      `${TITLE}: the target is not wasm32: expected a 32-bit memory, the only kind that dumps describe`,
    );
  }
  if (options.runtime === RUNTIME_STUB) {
    throw new Error(
      `${TITLE}: the runtime is stub: expected --runtime incremental (the default) or minimal, because stub has no ` +
        "collector, so there are no live objects",
    );
  }
}

function exportBoundaries(module: BinaryenModule, binaryen: Compiler["binaryen"]): void {
  const mutableExportsAllowed = (module.getFeatures() & binaryen.Features.MutableGlobals) !== 0;
  for (const name of BOUNDARY_GLOBALS) {
    const internalName = `~lib/memory/${name}`;
    const global = module.getGlobal(internalName);
    if (global === 0 || module.getExport(name) !== 0) continue;
    if (binaryen.getGlobalInfo(global).mutable && !mutableExportsAllowed) continue;
    module.addGlobalExport(internalName, name);
  }
}
