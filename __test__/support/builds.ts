/**
 * Builds that say more or less about themselves. Names are taken away after compilation, which
 * leaves what the compiler makes without `--debug` (`builds.test.ts` compares): so the truth about
 * a nameless build can still be read by the names of the one that it was made from.
 */

import { type CompiledProgram, type CompileOptions, compile } from "./compile.ts";
import { withoutNames } from "./wasm_module.ts";

/** The names and debug information of a module. */
export type Evidence = "sections and names" | "sections" | "names" | "nothing";

export const EVIDENCE: Evidence[] = ["sections and names", "sections", "names", "nothing"];

export interface Build {
  /** Has names. */
  program: CompiledProgram;
  /** The module for the analyzer. */
  wasm: Uint8Array;
}

export async function build(
  name: string,
  flags: string[],
  evidence: Evidence,
  options: CompileOptions = {},
): Promise<Build> {
  const transform = evidence === "sections and names" || evidence === "sections";
  const program = await compile(name, [...flags, "--debug"], { ...options, transform });
  const hasNames = evidence === "sections and names" || evidence === "names";
  return { program, wasm: hasNames ? program.wasm : withoutNames(program.wasm) };
}
