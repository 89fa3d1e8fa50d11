/** Commands that are given a folder: its dumps and their module stand for it. */
import { foundIn, isFolder, sayFound } from "./found_dumps.js";

/** How many dumps a command takes. */
const TAKES: Record<string, "one" | "two" | "many"> = {
  analyze: "one",
  check: "many",
  diff: "two",
  dominators: "one",
  export: "one",
  find: "one",
  growth: "many",
  object: "one",
  paths: "one",
  referrers: "one",
  report: "one",
  sites: "one",
  suspects: "one",
  summary: "one",
  unreachable: "one",
  waste: "one",
};

/** The arguments of a command, with the dumps of a folder instead of the folder. */
export async function withoutFolders(args: readonly string[]): Promise<string[]> {
  const [command = "", folder] = args;
  const takes = TAKES[command];
  // Elsewhere a folder is the value of an option, such as --output.
  if (takes === undefined || folder === undefined || !isFolder(folder)) return [...args];
  const rest = args.slice(2);
  const found = await foundIn(folder, wasmOf(rest));
  const { dumps, module } = found;
  const last = dumps.at(-1);
  if (takes === "one" && dumps.length > 1) {
    throw new Error(
      `${command} takes one dump, and ${folder} has ${dumps.length}: name one, such as ${last}`,
    );
  }
  if (takes === "two" && dumps.length !== 2) {
    throw new Error(
      `${command} takes two dumps, and ${folder} has ${dumps.length}: name two, or ask growth`,
    );
  }
  sayFound(found);
  return [command, ...dumps, ...rest, ...wasmArguments(module, rest)];
}

/** The value of `--wasm` among arguments. */
export function wasmOf(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === "--wasm" || arg === "-w");
  if (at >= 0) return args[at + 1];
  return args.find((arg) => arg.startsWith("--wasm="))?.slice("--wasm=".length);
}

/** The option for a module that the arguments do not name yet. */
export function wasmArguments(module: string | undefined, args: readonly string[]): string[] {
  return module === undefined || wasmOf(args) !== undefined ? [] : ["--wasm", module];
}
