// Resolves `import … from "MemoryDump"`. `asc --bindings esm` writes this import for a program that
// imports `MemoryDump.dumpMemoryRegion`.

import * as nodeModule from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Resolution = { url: string; format?: string; shortCircuit?: boolean };
type NextResolver = (specifier: string, context: unknown) => Resolution;

/** Newer than the declarations for the oldest supported version of Node. */
const { registerHooks, register } = nodeModule as unknown as {
  registerHooks?: (hooks: {
    resolve: (specifier: string, context: unknown, next: NextResolver) => Resolution;
  }) => void;
  register?: (specifier: string) => void;
};

const SPECIFIER = "MemoryDump";
const MODULE = join(__dirname, "../memory_dump.mjs");

/** Resolves `MemoryDump` for a program that has no module of this name. */
export function resolveDumpModule(): void {
  const url = pathToFileURL(MODULE).href;
  if (registerHooks !== undefined) {
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier !== SPECIFIER) return next(specifier, context);
        try {
          return next(specifier, context);
        } catch {
          return { url, format: "module", shortCircuit: true };
        }
      },
    });
    return;
  }
  // Older versions run hooks in another thread, and load them from a module.
  if (process.permission?.has("worker") === false) return;
  const source = `export async function resolve(specifier, context, next) {
    if (specifier !== ${JSON.stringify(SPECIFIER)}) return next(specifier, context);
    try {
      return await next(specifier, context);
    } catch {
      return { url: ${JSON.stringify(url)}, format: "module", shortCircuit: true };
    }
  }`;
  register?.(`data:text/javascript,${encodeURIComponent(source)}`);
}
