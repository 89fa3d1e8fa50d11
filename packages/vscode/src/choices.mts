/** What a person chooses: modules, dumps, files to write. What was said of modules is remembered. */
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { runAnalyzer } from "./analyzer.mts";
import { findModule, heapsIn } from "./modules.mts";

/** Modules of the workspace that are offered. */
const MOST_MODULES = 100;

/** The module of a dump: remembered, found, or asked for. Undefined if nobody says it. */
export async function moduleOf(
  dump: string,
  cli: string,
  memory: vscode.Memento,
): Promise<string | null | undefined> {
  const known = memory.get<string>(keyOf(dump));
  // A module that does not belong to the dump is refused also for a part of a damaged dump.
  const fits = async (module: string) =>
    (await runAnalyzer(cli, ["summary", dump, "--wasm", module, "--partial"])).code === 0;
  const found = await findModule(dump, fits);
  if (found === null) return null;
  if (known !== undefined && existsSync(known)) return known;
  return found ?? (await askModule(dump, memory));
}

/** Asks for the module of the dumps of a folder, and remembers it. */
export async function askModule(dump: string, memory: vscode.Memento): Promise<string | undefined> {
  const files = await vscode.workspace.findFiles("**/*.wasm", "**/node_modules/**", MOST_MODULES);
  const title = `The module that ${basename(dump)} was taken from`;
  const chosen = await chosenFile(files.map(({ fsPath }) => fsPath).sort(), title, {
    "WebAssembly modules": ["wasm"],
  });
  if (chosen !== undefined) await memory.update(keyOf(dump), chosen);
  return chosen;
}

/** Another dump, of the same folder or of any. */
export async function askDump(dump: string, title: string): Promise<string | undefined> {
  const others = (await heapsIn(dirname(dump))).filter((file) => file !== dump);
  return await chosenFile(others, title, {});
}

/** One of some files, or any other. */
async function chosenFile(
  files: string[],
  title: string,
  filters: Record<string, string[]>,
): Promise<string | undefined> {
  const browse = { label: "Browse…", description: "" };
  const items = files.map((file) => ({ label: basename(file), description: dirname(file), file }));
  if (items.length > 0) {
    const chosen = await vscode.window.showQuickPick<{ label: string; file?: string }>(
      [...items, browse],
      { title, placeHolder: title, matchOnDescription: true },
    );
    if (chosen === undefined || chosen.file !== undefined) return chosen?.file;
  }
  const [file] = (await vscode.window.showOpenDialog({ title, filters })) ?? [];
  return file?.fsPath;
}

function keyOf(dump: string): string {
  return `module:${dirname(dump)}`;
}
