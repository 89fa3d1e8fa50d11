#!/usr/bin/env node
/**
 * Starts the command line. The path of this file is fixed, because it is a drop-in replacement for WARPO's
 * `dist/heap_analyzer/cli.js`. The commands are in `program.ts` and `commands/`.
 */
import { runProgram } from "./main.js";

// A closed or full stderr loses the messages, but neither the result nor the exit code.
process.stderr.on("error", () => {});
void runProgram(process.argv);
