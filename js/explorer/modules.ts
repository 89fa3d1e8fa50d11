/** Which modules lie in a folder. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { kindOf } from "../served/file_kind.js";

/** The modules of a folder; none if there is no such folder. */
export async function modulesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const modules: string[] = [];
  for (const name of names.filter((name) => name.endsWith(".wasm")).sort()) {
    const kind = await kindOf(join(folder, name)).catch(() => undefined);
    if (kind === "module") modules.push(join(folder, name));
  }
  return modules;
}
