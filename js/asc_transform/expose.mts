/**
 * The transform `@warpo/heap-analyzer/asc-transform`, which here also exposes the globals of the
 * module that the compiler writes, as `exposeGlobals` does:
 *
 *     asc entry.ts --debug --transform @warpo/heap-analyzer/asc-transform/expose
 *
 * For programs whose host cannot change a module before it is compiled: in browsers, for one.
 */
import AscTransform from "../asc_transform.mjs";
import { exposeGlobals } from "../native.js";
import type { BinaryenModule } from "./compiler.mjs";
import { shiftMappings } from "./source_map.mjs";

/** What the compiler gets if it asks for a source map, too. */
interface Emission {
  binary: Uint8Array;
  sourceMap: string | null;
}

/** The transform. The compiler makes the instance. */
export default class ExposingAscTransform extends AscTransform {
  override afterCompile(module: BinaryenModule): void {
    super.afterCompile(module);
    // Names of exports contain the indexes of globals, which are final in the binary alone.
    const emitBinary = module.emitBinary.bind(module) as (...args: unknown[]) => unknown;
    module.emitBinary = ((...args: unknown[]) => {
      const emission = emitBinary(...args) as Uint8Array | Emission;
      // Without an argument it is a comparison of sizes, between two optimisations.
      return "binary" in emission ? exposed(emission) : emission;
    }) as BinaryenModule["emitBinary"];
  }
}

function exposed({ binary, sourceMap }: Emission): Emission {
  const wasm = exposeGlobals(binary);
  return {
    binary: new Uint8Array(wasm),
    // Exports come before the code, so all positions in it move by as much.
    sourceMap: sourceMap && shiftMappings(sourceMap, wasm.length - binary.length),
  };
}
