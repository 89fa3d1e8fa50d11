#!/usr/bin/env node
/**
 * Starts the command line. A drop-in for WARPO's `dist/heap_analyzer/cli.js`, so the file's place and name
 * are fixed. The commands are in `program.ts` and `commands/`.
 */
import { runProgram } from "./main.js";

void runProgram(process.argv);
