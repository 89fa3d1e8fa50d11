/** The native addon, loaded when there is something to analyze: `--help` needs no binary. */
import type * as native from "../native.js";

/** Throws `ERR_NO_BINARY` if there is none for this platform. */
export function addon(): typeof native {
  const loaded = require("../native.js") as typeof native;
  // Reading a large file takes longer than mapping it. If it is truncated meanwhile, only this process ends.
  loaded.mapLargeFiles();
  return loaded;
}
