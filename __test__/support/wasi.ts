// The system interface for programs that tests run in this process.

import type { WASI } from "node:wasi";

/**
 * What a program imports from the system. WebAssembly calls functions of Node 20's WASI directly, where no garbage may be
 * collected; but a write may collect some, and then ends the process. So each call goes through JavaScript.
 */
export function systemImports(wasi: WASI): WebAssembly.Imports {
  const imports = wasi.getImportObject() as Record<string, Record<string, CallableFunction>>;
  return Object.fromEntries(
    Object.entries(imports).map(([module, functions]) => [
      module,
      Object.fromEntries(
        Object.entries(functions).map(([name, call]) => [
          name,
          (...args: unknown[]) => call(...args),
        ]),
      ),
    ]),
  );
}
