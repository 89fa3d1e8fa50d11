/** A dump or a folder without a command: what a stranger asks first, and what to ask next. */
import { wasmArguments, wasmOf } from "./folder_arguments.js";
import { foundIn, isFolder, moduleOf, sayFound } from "./found_dumps.js";
import { writeText } from "./output.js";
import { createProgram } from "./program.js";
import { continued, near, shellWord, startedAs } from "./started_as.js";
import { outputWidth } from "./terminal.js";

/** Fewer dumps than these show what is new, but not what grows. */
const SERIES = 3;

/** Answers what is in the last dump, and what grew in several. */
export async function firstLook(args: readonly string[]): Promise<void> {
  const [path = "", ...rest] = args;
  const found = isFolder(path)
    ? await foundIn(path, wasmOf(rest))
    : { dumps: [path], module: wasmOf(rest) ?? (await moduleOf([path])) };
  const { dumps, module } = found;
  if (isFolder(path)) sayFound(found);
  const more = [...rest, ...wasmArguments(module, rest)];
  const last = dumps.at(-1) as string;
  if (dumps.length >= SERIES) await run(["growth", ...dumps, ...more]);
  else if (dumps.length === 2)
    await run(["suspects", last, "--before", dumps[0] as string, ...more]);
  else {
    await run(["summary", last, ...more]);
    writeText("\n");
    await run(["suspects", last, ...more]);
  }
  writeText(askNext(last, module));
}

async function run(args: readonly string[]): Promise<void> {
  await createProgram(args[0]).parseAsync(["node", "warpo-heap-analyzer", ...args]);
}

function askNext(dump: string, module: string | undefined): string {
  const wasm = module === undefined ? "" : ` --wasm ${shellWord(near(module))}`;
  const width = outputWidth();
  const command = (name: string) =>
    continued(`${startedAs()} ${name} ${shellWord(near(dump))}${wasm}`, width, "    ");
  return `
ask next
  every object, in the browser:
${command("open")}
  what fills the memory, by class:
${command("analyze")}
  what could be saved:
${command("waste")}
`;
}
