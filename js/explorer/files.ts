/** The dumps and modules that `open` is given: files, and folders in which new dumps appear. */
import { type Stats, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { hasNoModule, kindOf } from "../served/file_kind.js";
import type { DumpFile } from "./dumps.js";
import { modulesIn } from "./modules.js";

/** Milliseconds between two looks into a folder. */
const PAUSE = 700;
/** Dumps of a folder that are read: the newest. */
const MOST_DUMPS = 100;

/** What the arguments name, in the order in which it was taken. */
export interface Given {
  files: DumpFile[];
  folders: string[];
  /** The paths of all files that exist now, those that are not read included. */
  known: Set<string>;
}

/** The dumps of the arguments: those of folders by their time, files as they were given. */
export async function givenDumps(paths: string[], wasm: string | undefined): Promise<Given> {
  const files: DumpFile[] = [];
  const folders: string[] = [];
  const known = new Set<string>();
  for (const path of paths) {
    if (statusOf(path).isDirectory()) {
      folders.push(path);
      const found = await dumpsOf(path);
      for (const { file } of found) known.add(file);
      for (const { file } of found.slice(-MOST_DUMPS)) files.push(await dumpFile(file, wasm));
    } else {
      known.add(path);
      files.push(await dumpFile(path, wasm));
    }
  }
  if (files.length === 0 && folders.length === 0) throw new Error("open: no dump is given");
  return { files, folders, known };
}

function statusOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw new Error(`${path}: cannot open the file: ${(error as Error).message}`, { cause: error });
  }
}

/** Reports dumps that appear in folders, when they are complete, until the signal. */
export async function watchFolders(
  folders: string[],
  known: ReadonlySet<string>,
  signal: AbortSignal,
  onDump: (path: string) => Promise<void>,
): Promise<void> {
  const seen = new Set(known);
  // A file that grows is not complete.
  const sizes = new Map<string, number>();
  while (!signal.aborted) {
    await setTimeout(PAUSE, undefined, { signal }).catch(() => {});
    for (const folder of folders) {
      for (const { file, size } of await dumpsOf(folder)) {
        if (signal.aborted) return;
        if (seen.has(file)) continue;
        const isComplete = sizes.get(file) === size;
        sizes.set(file, size);
        if (!isComplete) continue;
        seen.add(file);
        await onDump(file);
      }
    }
  }
}

/** The dumps and snapshots of a folder, the earliest first. */
async function dumpsOf(folder: string): Promise<{ file: string; size: number }[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const stats = await stat(file).catch(() => undefined);
      if (stats === undefined || !stats.isFile()) return undefined;
      const kind = await kindOf(file).catch(() => undefined);
      return kind === undefined || kind === "module" ? undefined : { file, stats };
    }),
  );
  return found
    .filter((one): one is { file: string; stats: Stats } => one !== undefined)
    .sort(
      (one, other) => one.stats.mtimeMs - other.stats.mtimeMs || (one.file < other.file ? -1 : 1),
    )
    .map(({ file, stats }) => ({ file, size: stats.size }));
}

/** A dump with its module: the one that was named, or the only one beside it. */
export async function dumpFile(path: string, wasm: string | undefined): Promise<DumpFile> {
  const name = basename(path);
  if (wasm !== undefined) return { path, name, wasm };
  if (hasNoModule(await kindOf(path))) return { path, name, wasm: undefined };
  const beside = await modulesIn(dirname(path));
  // Where compilers write.
  const modules = beside.length > 0 ? beside : await modulesIn(join(dirname(path), "build"));
  const [only] = modules;
  if (only !== undefined && modules.length === 1) return { path, name, wasm: only };
  const found = modules.length === 0 ? "no module lies" : `${modules.length} modules lie`;
  throw new Error(
    `${found} beside ${path}: name the module that the dump was taken from with --wasm`,
  );
}
