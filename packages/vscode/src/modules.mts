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
 * The module of a dump: the one of its name, or the only one that fits in the nearest folder that has any. Null for a
 * heap snapshot, which has none; undefined if a person has to say it.
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
  for (const near of [folder, join(folder, "build"), join(folder, "../build")]) {
    const modules = await modulesIn(near);
    if (modules.length === 1) return modules[0];
    if (modules.length > 1) return await onlyFitting(modules, fits);
  }
  return undefined;
}

/** The only module that fits. Builds of one program for several purposes can all fit: then a person decides. */
async function onlyFitting(
  modules: string[],
  fits: (module: string) => Promise<boolean>,
): Promise<string | undefined> {
  const fitting = [];
  for (const module of modules) if (await fits(module)) fitting.push(module);
  return fitting.length === 1 ? fitting[0] : undefined;
}
