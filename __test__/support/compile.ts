/**
 * Compiles test programs with stock `asc` and the project's transform. Results are kept in
 * `build/`, under a name that changes with everything that goes into them.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import asc from "assemblyscript/asc";
import type { Binaryen, BinaryenModule, Program } from "../../dist/asc_transform/compiler.mjs";
import {
  type DebugInfoDescription,
  describeProgram,
} from "../../dist/asc_transform/description.mjs";
import AscTransform from "../../dist/asc_transform.mjs";

export interface CompiledProgram {
  name: string;
  wasm: Uint8Array;
  /** The compiler's own names of classes, by runtime id. */
  classNames: Map<number, string>;
  /** The contents of the debug sections that the transform writes. */
  description: DebugInfoDescription;
  /** The address of the run-time type flags. */
  typeInfo: number;
}

interface CacheEntry {
  classNames: [number, string][];
  description: DebugInfoDescription;
  typeInfo: number;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
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
    .update(asc.version)
    .update(readFileSync(fileURLToPath(import.meta.url)));
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

/**
 * The version that the project is made with, the oldest that it works with, and older ones, whose programs are read: these
 * are installed by `npm run test:full -- asc-packages`.
 */
export type Compiler = "assemblyscript" | "assemblyscript-0.27" | OlderCompiler;
type OlderCompiler = "asc-0.24" | "asc-0.25" | "asc-0.26";

export function isOlder(compiler: Compiler): compiler is OlderCompiler {
  return compiler.startsWith("asc-");
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
    const { classNames, ...others } = JSON.parse(
      readFileSync(`${cached}.json`, "utf8"),
    ) as CacheEntry;
    return {
      name,
      wasm: readFileSync(`${cached}.wasm`),
      classNames: new Map(classNames),
      ...others,
    };
  } catch {
    // Not compiled yet.
  }
  const program = await compileAndDescribe(name, flags, {
    baseDir: folder,
    transform,
    compiler,
    exportRuntime,
  });
  writeWhole(`${cached}.wasm`, program.wasm);
  const entry: CacheEntry = {
    classNames: [...program.classNames],
    description: program.description,
    typeInfo: program.typeInfo,
  };
  writeWhole(`${cached}.json`, JSON.stringify(entry));
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
    transform = true,
    exportRuntime = true,
    compiler,
    files,
  }: Pick<CompileOptions, "transform" | "exportRuntime" | "compiler"> & {
    /** What it imports. */
    files?: Pick<CompilerOptions, "baseDir" | "sources">;
  } = {},
): Promise<CompiledProgram> {
  const sources = { ...files?.sources, [`${name}.ts`]: source };
  const { baseDir } = files ?? {};
  return compileAndDescribe(name, flags, {
    sources,
    transform,
    exportRuntime,
    ...(compiler && { compiler }),
    ...(baseDir && { baseDir }),
  });
}

/** Compiles a program of any folder. Nothing is kept. */
export function compileDescribed(
  name: string,
  flags: string[],
  options: CompilerOptions & { transform: boolean },
): Promise<CompiledProgram> {
  return compileAndDescribe(name, flags, options);
}

/** The class table is read by a second transform, so that names are the compiler's and not ours. */
async function compileAndDescribe(
  name: string,
  flags: string[],
  { transform, ...options }: CompilerOptions & { transform: boolean },
): Promise<CompiledProgram> {
  const classNames = new Map<number, string>();
  /** Older compilers cannot be asked. */
  let description: DebugInfoDescription | undefined = isOlder(options.compiler ?? "assemblyscript")
    ? { producer: "", classes: [], globals: [] }
    : undefined;
  let typeInfo = 0;
  class Recorder {
    declare program: Program;
    declare binaryen: Binaryen;
    afterCompile(module: BinaryenModule): void {
      // Parentheses and commas of function types are the only characters that it escapes.
      for (const [id, { internalName }] of this.program.managedClasses)
        classNames.set(id, decodeURIComponent(internalName));
      if (isOlder(options.compiler ?? "assemblyscript")) return;
      description = describeProgram(this.program, module, this.binaryen);
      typeInfo = constantGlobal("~lib/rt/__rtti_base", module, this.binaryen);
    }
  }
  const { wasm } = await runCompiler([`${name}.ts`, ...flags], {
    ...options,
    transforms: transform ? [AscTransform, Recorder] : [Recorder],
  });
  if (!description) throw new Error(`asc compiled ${name} without its transforms`);
  return { name, wasm, classNames, description, typeInfo };
}

/** The value of a global that optimisers remove, or 0. */
function constantGlobal(name: string, module: BinaryenModule, binaryen: Binaryen): number {
  const global = module.getGlobal(name);
  if (global === 0) return 0;
  return Number(binaryen.getExpressionInfo(binaryen.getGlobalInfo(global).init).value);
}

/** Literal imports, so that a bundler finds them. */
function importCompiler(compiler: Compiler): Promise<typeof import("assemblyscript/asc")> {
  if (isOlder(compiler)) {
    const file = join(ROOT, "__test__/asc_packages/node_modules", compiler, "dist/asc.js");
    return import(/* @vite-ignore */ pathToFileURL(file).href);
  }
  return compiler === "assemblyscript"
    ? import("assemblyscript/asc")
    : import("assemblyscript-0.27/asc");
}

export interface CompilerRun {
  wasm: Uint8Array;
  /** With `--sourceMap`. */
  sourceMap: string | undefined;
  stderr: string;
}

export interface CompilerOptions {
  baseDir?: string;
  transforms?: unknown[];
  /** Contents of files by name, instead of the files in `baseDir`, or before them if there is one. */
  sources?: Record<string, string>;
  compiler?: Compiler;
  exportRuntime?: boolean;
}

function textOf(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** Runs `asc` in this process and returns the module. Throws with the compiler's messages if it fails. */
export async function runCompiler(
  args: string[],
  {
    baseDir,
    transforms,
    sources,
    compiler = "assemblyscript",
    exportRuntime = true,
  }: CompilerOptions,
): Promise<CompilerRun> {
  let wasm: Uint8Array | undefined;
  let sourceMap: string | undefined;
  const { default: asc } = await importCompiler(compiler);
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main(
    [
      ...args,
      ...(baseDir ? ["--baseDir", baseDir] : []),
      ...(exportRuntime ? ["--exportRuntime"] : []),
      "--outFile",
      "out.wasm",
    ],
    {
      stderr,
      stdout: stderr,
      transforms: (transforms ?? []) as never,
      writeFile: (name: string, contents: string | Uint8Array) => {
        if (name === "out.wasm" && typeof contents !== "string") wasm = contents;
        if (name === "out.wasm.map" && typeof contents === "string") sourceMap = contents;
      },
      ...(sources && {
        readFile: (name: string) => sources[name] ?? (baseDir ? textOf(join(baseDir, name)) : null),
        listFiles: () => [],
      }),
    },
  );
  if (error || !wasm) throw new Error(`${args.join(" ")}: ${error?.message}\n${stderr.toString()}`);
  return { wasm, sourceMap, stderr: stderr.toString() };
}
