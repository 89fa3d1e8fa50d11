/**
 * Dumps that are taken between two stores of a program, when its structures are inconsistent: the
 * allocator has split a block and not yet written the second part, or the collector has removed an object
 * from one list and not yet added it to another. A dump that is taken at a trap, or from another thread,
 * can be like this.
 */

import { join } from "node:path";
import { analyze, type ConstructorView } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { describe, expect, test } from "vitest";
import { runCompiler } from "./support/compile.ts";
import { withoutNames } from "./support/wasm_module.ts";

const BASE = join(__dirname, "programs");
const ARGS = ["stores.ts", "--debug"];

/** Makes the compiler insert a call to the host before every store. */
const CALL_HOST_AT_STORES = join(__dirname, "support/call_host_at_stores.mjs");

interface Exports extends WebAssembly.Exports {
  setup(): void;
  step(nth: number): void;
  steps: WebAssembly.Global;
}

/** Runs the program; `onStore` is called before every store. */
async function start(onStore: () => void): Promise<Exports> {
  const args = [...ARGS, "--transform", CALL_HOST_AT_STORES];
  const { wasm } = await runCompiler(args, { baseDir: BASE, transform: true });
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const imports: Record<string, WebAssembly.ModuleImports> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    // Each import gets the stored or loaded value, or the address, as its last argument and returns it.
    imports[from][name] = (...passed: unknown[]) => {
      if (name === "store_ptr") onStore();
      return passed.at(-1);
    };
  }
  const { exports } = await WebAssembly.instantiate(module, imports);
  return exports as Exports;
}

/** The class of each live object, by address. */
function live({ constructors }: ConstructorView): Map<number, string> {
  const classes = new Map<number, string>();
  for (const { className, instanceColumns } of constructors)
    for (const address of instanceColumns.addresses) classes.set(address, className);
  return classes;
}

/** The codes that may be reported about an inconsistent heap. An internal error is not one of them. */
const ACCEPTED = new Set([
  "ERR_HEAP_CORRUPT",
  "ERR_MODULE_MISMATCH",
  "WARN_CONTENTS_DO_NOT_FIT",
  "WARN_HEAP_INCONSISTENT",
  "WARN_LIST_BROKEN",
  "WARN_NAMES_MISSING",
  "WARN_TOTAL_MISMATCH",
]);

/**
 * The result for such a dump: the code that is reported, or the objects that are missing although they
 * were live before the step and after it.
 */
function outcome(
  dump: Uint8Array,
  wasm: Uint8Array,
  before: Map<number, string>,
  after: typeof before,
) {
  let view: ConstructorView;
  try {
    view = analyze(dump, wasm);
  } catch (error) {
    const { code } = error as { code: string };
    if (!ACCEPTED.has(code)) throw error;
    return code;
  }
  const [warning] = view.warnings;
  if (warning !== undefined) {
    expect(ACCEPTED).toContain(warning.code);
    return warning.code;
  }
  const found = live(view);
  const stayed = [...before].filter(([address, name]) => after.get(address) === name);
  return stayed.filter(([address, name]) => found.get(address) !== name);
}

describe.each([
  ["names", (wasm: Uint8Array) => wasm, "WARN_TOTAL_MISMATCH"],
  ["no names", withoutNames, "WARN_LIST_BROKEN"],
])("between two stores of a program with %s", (_, strip, expected) => {
  test("no live object is missing silently", async () => {
    let dumps: Uint8Array[] | undefined;
    let stores = 0;
    const exports = await start(() => {
      // A prime number, so that dumps of a loop are taken at different places.
      if (dumps && stores++ % 7 === 0) dumps.push(captureDump(exports));
    });
    const { wasm: plain } = await runCompiler(ARGS, { baseDir: BASE, transform: true });
    const wasm = strip(plain);
    exports.setup();
    const outcomes = new Set<string>();
    let before = live(analyze(captureDump(exports), wasm));
    for (let nth = 0; nth < 2 * Number(exports.steps.value); nth++) {
      dumps = [];
      exports.step(nth);
      const taken = dumps.slice(0, 300);
      dumps = undefined;
      const after = live(analyze(captureDump(exports), wasm));
      for (const dump of taken) {
        const found = outcome(dump, wasm, before, after);
        if (typeof found === "string") outcomes.add(found);
        else expect(found, `in step ${nth}`).toEqual([]);
      }
      before = after;
    }
    expect([...outcomes]).toContain(expected);
  });
});
