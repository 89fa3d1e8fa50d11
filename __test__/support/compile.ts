/**
 * Compiles test programs with stock `asc` and the project's transform. Results are kept in
 * `build/`, under a name that changes with everything that goes into them.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import {
  type AscRequest,
  type AscResult,
  type Compiler,
  type Described,
  isOlder,
  runAsc,
} from "./asc.mjs";

export { type Compiler, isOlder };

export interface CompiledProgram extends Described {
  name: string;
  wasm: Uint8Array;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TRANSFORM = join(ROOT, "dist/asc_transform.mjs");
/** A program is one file in such a folder, and may import files from the folder's `support/`. */
const PROGRAMS = join(ROOT, "__test__/programs/judged");
export const RANDOM_PROGRAMS = join(ROOT, "__test__/programs/random");
export const CACHE = join(ROOT, "build/judge");

export const UNOPTIMISED = ["--debug"];
export const OPTIMISED = ["-O3", "--debug"];

/** The names of all programs. */
export const programNames = readdirSync(PROGRAMS)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort();

/** The files that affect results besides program and flags. A change to one of them invalidates the cache. */
const toolchain = () => {
  const hash = createHash("sha256")
    .update(readFileSync(join(ROOT, "node_modules/assemblyscript/package.json")))
    .update(readFileSync(join(ROOT, "__test__/support/asc.mjs")));
  const addFolder = (folder: string) => {
    for (const file of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, file.name);
      if (file.isDirectory()) addFolder(path);
      else if (/asc_transform|\.mjs$|\.node$/.test(path)) hash.update(readFileSync(path));
    }
  };
  addFolder(join(ROOT, "dist"));
  return hash.digest();
};
let toolchainHash: Buffer | undefined;

export interface CompileOptions {
  /** Where the program is. */
  folder?: string;
  /** Whether the project's transform takes part. */
  transform?: boolean;
  /** The package of the compiler. */
  compiler?: Compiler;
  /** Whether the module exports the runtime's functions, which `asc` and WARPO do only if asked. */
  exportRuntime?: boolean;
}

export async function compile(
  name: string,
  flags: string[],
  {
    folder = PROGRAMS,
    transform = true,
    compiler = "assemblyscript",
    exportRuntime = true,
  }: CompileOptions = {},
): Promise<CompiledProgram> {
  toolchainHash ??= toolchain();
  const hash = createHash("sha256")
    .update(toolchainHash)
    .update(readFileSync(join(folder, `${name}.ts`)))
    .update(JSON.stringify([flags, transform, compiler, exportRuntime]));
  const shared = join(folder, "support");
  for (const file of readdirSync(shared)) hash.update(readFileSync(join(shared, file)));
  const key = hash.digest("hex").slice(0, 16);
  const cached = join(CACHE, `${name}-${key}`);
  try {
    return deserialize(readFileSync(cached));
  } catch {
    // Not compiled yet.
  }
  const program = await compileDescribed(name, flags, {
    baseDir: folder,
    transform,
    compiler,
    exportRuntime,
  });
  writeWhole(cached, serialize(program));
  return program;
}

/** Writes to the cache. Test files run in parallel, so a file must be complete from the moment it is there. */
export function writeWhole(path: string, contents: Uint8Array | string): void {
  mkdirSync(CACHE, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}

/** Compiles a program that is not in a file. */
export function compileSource(
  name: string,
  source: string,
  flags: string[],
  {
    files,
    ...options
  }: Pick<CompileOptions, "transform" | "exportRuntime" | "compiler"> & {
    /** What it imports. */
    files?: Pick<CompilerOptions, "baseDir" | "sources">;
  } = {},
): Promise<CompiledProgram> {
  const sources = { ...files?.sources, [`${name}.ts`]: source };
  return compileDescribed(name, flags, { transform: true, ...files, ...options, sources });
}

/** Compiles a program of any folder. Nothing is kept. */
export async function compileDescribed(
  name: string,
  flags: string[],
  options: CompilerOptions,
): Promise<CompiledProgram> {
  const { wasm, described } = await runCompiler([`${name}.ts`, ...flags], options, true);
  if (!described) throw new Error(`asc compiled ${name} without its transforms`);
  return { name, wasm, ...described };
}

export interface CompilerRun {
  wasm: Uint8Array<ArrayBuffer>;
  /** With `--sourceMap`. */
  sourceMap: string | undefined;
  stderr: string;
  described: Described | undefined;
}

export interface CompilerOptions {
  baseDir?: string;
  /** Contents of files by name, instead of the files in `baseDir`, or before them if there is one. */
  sources?: Record<string, string>;
  /** Whether the project's transform takes part. */
  transform?: boolean;
  compiler?: Compiler;
  /** Whether the module exports the runtime's functions, which `asc` and WARPO do only if asked. */
  exportRuntime?: boolean;
}

/** Runs `asc` and returns the module. Throws with the compiler's messages if it fails. */
export async function runCompiler(
  args: string[],
  { baseDir, transform = false, sources, compiler, exportRuntime = true }: CompilerOptions,
  describe = false,
): Promise<CompilerRun> {
  const all = [
    ...args,
    ...(transform ? ["--transform", TRANSFORM] : []),
    ...(exportRuntime ? ["--exportRuntime"] : []),
    "--outFile",
    "out.wasm",
  ];
  const { files, stderr, described } = await asc({
    args: all,
    baseDir,
    sources,
    compiler,
    describe,
  });
  const wasm = Uint8Array.from(files.get("out.wasm") as Uint8Array);
  return { wasm, sourceMap: files.get("out.wasm.map") as string | undefined, stderr, described };
}

/** Runs `asc`: in the process that compiles for all test files, if there is one. Throws with its messages if it fails. */
export async function asc(request: AscRequest): Promise<AscResult> {
  const server = process.env.ASC_SERVER;
  const result = server ? await ask(server, request) : await runAsc(request);
  if (result.error !== undefined)
    throw new Error(`${request.args.join(" ")}: ${result.error}\n${result.stderr}`);
  return result;
}

async function ask(server: string, request: AscRequest): Promise<AscResult> {
  const body = new Uint8Array(serialize(request));
  const response = await fetch(server, { method: "POST", body });
  return deserialize(new Uint8Array(await response.arrayBuffer()));
}
