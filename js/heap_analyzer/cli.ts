#!/usr/bin/env node
/**
 * Starts the command line. The path of this file is fixed, because it is a drop-in replacement for WARPO's
 * `dist/heap_analyzer/cli.js`. The commands are in `program.ts` and `commands/`.
 */
import { runProgram } from "./main.js";

void runProgram(process.argv);
