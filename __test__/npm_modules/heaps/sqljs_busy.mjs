// Some calls a second without an end: with the version that leaks, many calls leave no stack.
import { round } from "./sqljs_exec.mjs";

setInterval(round, 10, 1);
