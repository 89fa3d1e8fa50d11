/** Which module a dump was taken from. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { modulesIn } from "../../../js/explorer/modules.js";
import { hasNoModule, kindOf } from "../../../js/served/file_kind.js";

/** Whether a file is a dump or a heap snapshot, by its contents. */
export async function isHeap(file: string): Promise<boolean> {
  const kind = await kindOf(file).catch(() => undefined);
  return kind !== undefined && kind !== "module";
}

/** The dumps and heap snapshots of a folder. */
export async function heapsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [] as string[])).sort();
  const files = names.map((name) => join(folder, name));
  const areHeaps = await Promise.all(files.map(isHeap));
  return files.filter((_, nth) => areHeaps[nth]);
}

/**
 * The module of a dump: the one of its name, or the only one that fits in the nearest folder that has any that fits. Null
 * for a heap snapshot, which has none; undefined if a person has to say it.
 *
 * @param fits takes time: it is asked only if there are several modules.
 */
export async function findModule(
  dump: string,
  fits: (module: string) => Promise<boolean>,
): Promise<string | null | undefined> {
  if (hasNoModule(await kindOf(dump))) return null;
  const folder = dirname(dump);
  const named = join(folder, `${basename(dump).replace(/\.\w+$/, "")}.wasm`);
  if (existsSync(named)) return named;
  // Where compilers write, also if dumps have a folder of their own beside it.
  const near = new Set([folder, join(folder, "build"), join(folder, "../build")]);
  const found = await Promise.all([...near].map(modulesIn));
  const [only, ...others] = found.flat();
  if (others.length === 0) return only;
  for (const modules of found) {
    const fitting = [];
    for (const module of modules) if (await fits(module)) fitting.push(module);
    // Builds of one program for several purposes can all fit.
    if (fitting.length > 0) return fitting.length === 1 ? fitting[0] : undefined;
  }
  return undefined;
}
