/** The native addon, loaded when there is something to analyze: `--help` needs no binary. */
import type * as native from "../native.js";

/** Throws `ERR_NO_BINARY` if there is none for this platform. */
export const addon = () => require("../native.js") as typeof native;
