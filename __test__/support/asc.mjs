/** Runs `asc`. Plain JavaScript, because `asc_server.mjs` runs it without a test runner. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describeProgram } from "../../dist/asc_transform/description.mjs";

/** As deep in the package as where the judge is bundled. */
const OLDER = fileURLToPath(new URL("../../__test__/asc_packages/node_modules", import.meta.url));

/**
 * The version that the project is made with, the oldest that it works with, and older ones, whose programs are read: these
 * are installed by `npm run test:full -- asc-packages`.
 * @typedef {"assemblyscript" | "assemblyscript-0.27" | OlderCompiler} Compiler
 * @typedef {"asc-0.24" | "asc-0.25" | "asc-0.26"} OlderCompiler
 */

/**
 * @typedef {object} AscRequest
 * @property {string[]} args Options of `asc`, and the program's file.
 * @property {Record<string, string>} [sources] Contents of files by name, instead of the files in `baseDir`, or before them
 * if there is one.
 * @property {string} [baseDir]
 * @property {Compiler} [compiler]
 * @property {boolean} [describe] Whether the compiler is asked about classes.
 */

/**
 * What the compiler knows of a program. A transform reads it, so that names are the compiler's and not ours.
 * @typedef {object} Described
 * @property {Map<number, string>} classNames The compiler's own names of classes, by runtime id.
 * @property {import("../../dist/asc_transform/description.mjs").DebugInfoDescription} description The contents of the
 * debug sections that the project's transform writes.
 * @property {number} typeInfo The address of the run-time type flags.
 */

/**
 * @typedef {object} AscResult
 * @property {string} [error] Why it failed.
 * @property {string} stderr
 * @property {Map<string, string | Uint8Array>} files What was written, by name.
 * @property {Described} [described]
 */

/**
 * @param {AscRequest} request
 * @returns {Promise<AscResult>}
 */
export async function runAsc({
  args,
  sources,
  baseDir,
  compiler = "assemblyscript",
  describe = false,
}) {
  const asc = await importCompiler(compiler);
  const files = new Map();
  const stderr = asc.createMemoryStream();
  /** @type {Described | undefined} */
  let described;
  class Recorder {
    /** @param {import("../../dist/asc_transform/compiler.mjs").BinaryenModule} module */
    afterCompile(module) {
      const { program, binaryen } = /** @type {any} */ (this);
      described = describedBy(program, module, binaryen, compiler);
    }
  }
  /** @param {string} name */
  const readFile = (name) => sources?.[name] ?? (baseDir ? textOf(join(baseDir, name)) : null);
  const { error } = await asc.main([...args, ...(baseDir ? ["--baseDir", baseDir] : [])], {
    stderr,
    stdout: stderr,
    transforms: /** @type {any} */ (describe ? [Recorder] : []),
    writeFile: (name, contents) => {
      files.set(name, contents);
    },
    ...(sources && { readFile, listFiles: () => [] }),
  });
  return { error: error?.message, stderr: stderr.toString(), files, described };
}

/**
 * @param {Compiler} compiler
 * @returns {compiler is OlderCompiler}
 */
export function isOlder(compiler) {
  return compiler.startsWith("asc-");
}

/** @param {string} file */
function textOf(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/**
 * Literal imports, so that a bundler finds them.
 * @param {Compiler} compiler
 * @returns {Promise<typeof import("assemblyscript/asc").default>}
 */
async function importCompiler(compiler) {
  if (isOlder(compiler)) {
    const { href } = pathToFileURL(join(OLDER, compiler, "dist/asc.js"));
    return (await import(/* @vite-ignore */ href)).default;
  }
  const imported = await (compiler === "assemblyscript"
    ? import("assemblyscript/asc")
    : import("assemblyscript-0.27/asc"));
  return imported.default;
}

/**
 * @param {import("../../dist/asc_transform/compiler.mjs").Program} program
 * @param {import("../../dist/asc_transform/compiler.mjs").BinaryenModule} module
 * @param {import("../../dist/asc_transform/compiler.mjs").Binaryen} binaryen
 * @param {Compiler} compiler
 * @returns {Described}
 */
function describedBy(program, module, binaryen, compiler) {
  const classNames = new Map();
  // Parentheses and commas of function types are the only characters that it escapes.
  for (const [id, { internalName }] of program.managedClasses)
    classNames.set(id, decodeURIComponent(internalName));
  // Older compilers cannot be asked for more.
  if (isOlder(compiler))
    return { classNames, description: { producer: "", classes: [], globals: [] }, typeInfo: 0 };
  // Optimisers remove this global; then there is no address.
  const global = module.getGlobal("~lib/rt/__rtti_base");
  const typeInfo =
    global === 0 ? 0 : binaryen.getExpressionInfo(binaryen.getGlobalInfo(global).init).value;
  return {
    classNames,
    description: describeProgram(program, module, binaryen),
    typeInfo: Number(typeInfo),
  };
}
