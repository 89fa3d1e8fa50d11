/**
 * Dumps from between two stores of a program, where nothing is whole: the allocator has split a block
 * and not yet written the other half, the collector has taken an object out of one list and not yet put it into
 * another. Whoever dumps at a trap, or from another thread, gets such a dump.
 */

import { analyze, type ConstructorView } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { describe, expect, test } from "vitest";
import AscTransform from "../dist/asc_transform.mjs";
import { runCompiler } from "./support/compile.ts";
import { withoutNames } from "./support/wasm_module.ts";

const BASE = new URL("programs/", import.meta.url).pathname;
const ARGS = ["stores.ts", "--debug"];

/** Lets the compiler call the host before every store. */
class CallHostAtStores {
  afterCompile(module: { runPasses(passes: string[]): void }): void {
    module.runPasses(["instrument-memory"]);
  }
}

interface Exports extends WebAssembly.Exports {
  setup(): void;
  step(nth: number): void;
  steps: WebAssembly.Global;
}

/** Runs the program; `onStore` is called before every store. */
async function start(onStore: () => void): Promise<Exports> {
  const transforms = [AscTransform, CallHostAtStores];
  const { wasm } = await runCompiler(ARGS, { baseDir: BASE, transforms });
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const imports: Record<string, WebAssembly.ModuleImports> = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    // Each gets what is stored or loaded, or where, as its last argument, and gives it back.
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

/** What such a dump comes to: a code, or what is missing of all that lived before and after. */
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
    return (error as { code: string }).code;
  }
  const [warning] = view.warnings;
  if (warning) return warning.code;
  const found = live(view);
  const stayed = [...before].filter(([address, name]) => after.get(address) === name);
  return stayed.filter(([address, name]) => found.get(address) !== name);
}

describe.each([
  ["names", (wasm: Uint8Array) => wasm, "WARN_TOTAL_MISMATCH"],
  ["no names", withoutNames, "WARN_LIST_BROKEN"],
])("between two stores of a program with %s", (_, strip, expected) => {
  test("nothing that lives is missing without a word", async () => {
    let dumps: Uint8Array[] | undefined;
    let stores = 0;
    const exports = await start(() => {
      // Prime, so that loops do not always stop at the same place.
      if (dumps && stores++ % 7 === 0) dumps.push(captureDump(exports));
    });
    const { wasm: plain } = await runCompiler(ARGS, { baseDir: BASE, transforms: [AscTransform] });
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
