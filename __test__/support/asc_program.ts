// Compiles AssemblyScript sources in memory with the real compiler.

import { readFileSync } from "node:fs";

import { asc } from "./compile.ts";

/** The output of the compiler for a program. */
export interface AscProgram {
  wasm: Uint8Array<ArrayBuffer>;
  /** The text format, which names everything even where the binary does not. */
  wat: string;
  /** Generated bindings (`--bindings`), if asked for. */
  bindings: string | undefined;
}

/** Compiles `__test__/programs/<name>.ts` with these options of `asc`. */
export async function compileProgram(name: string, ...options: string[]): Promise<AscProgram> {
  const source = readFileSync(new URL(`../programs/${name}.ts`, import.meta.url), "utf8");
  const outputs = ["--outFile", `${name}.wasm`, "--textFile", `${name}.wat`];
  const { files } = await asc({
    args: [`${name}.ts`, ...outputs, ...options],
    sources: { [`${name}.ts`]: source },
  });
  return {
    wasm: Uint8Array.from(files.get(`${name}.wasm`) as Uint8Array),
    wat: files.get(`${name}.wat`) as string,
    bindings: files.get(`${name}.js`) as string | undefined,
  };
}

/**
 * The names of all mutable i32 globals in index order, as the compiler's own text format lists
 * them: imported ones first.
 */
export function mutableI32Globals(wat: string): string[] {
  return [...wat.matchAll(/\(global \$(\S+) \(mut i32\)/g)].map((match) => match[1] ?? "");
}
