/**
 * The transform `@warpo/heap-analyzer/asc-transform` with one more step: it also exposes the globals of
 * the module that the compiler writes, as `exposeGlobals` does:
 *
 *     asc entry.ts --debug --transform @warpo/heap-analyzer/asc-transform/expose
 *
 * For programs whose host cannot change a module before it compiles it, for example in browsers.
 */
import AscTransform from "../asc_transform.mjs";
import { exposeGlobals } from "../native.js";
import type { BinaryenModule } from "./compiler.mjs";
import { shiftMappings } from "./source_map.mjs";

/** The result of `emitBinary` if the compiler passes the address of a source map, even if it is null. */
interface Emission {
  binary: Uint8Array;
  sourceMap: string | null;
}

/** The transform. The compiler creates the instance. */
export default class ExposingAscTransform extends AscTransform {
  override afterCompile(module: BinaryenModule): void {
    super.afterCompile(module);
    // The names of the exports contain the indexes of the globals, which are final only in the binary.
    const emitBinary = module.emitBinary.bind(module) as (...args: unknown[]) => unknown;
    module.emitBinary = ((...args: unknown[]) => {
      const emission = emitBinary(...args) as Uint8Array | Emission;
      // Without an argument, the compiler only compares sizes between two optimisations.
      return "binary" in emission ? exposed(emission) : emission;
    }) as BinaryenModule["emitBinary"];
  }
}

function exposed({ binary, sourceMap }: Emission): Emission {
  const wasm = exposeGlobals(binary);
  return {
    binary: new Uint8Array(wasm),
    // Exports are before the code, so the positions of all code change by the size of the new exports.
    sourceMap: sourceMap && shiftMappings(sourceMap, wasm.length - binary.length),
  };
}
