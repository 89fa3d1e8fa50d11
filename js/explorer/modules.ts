/** What files are, and which modules lie in a folder. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type FileKind, fileKind, KIND_BYTES } from "../served/file_kind.js";

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

/** What a file is by its first bytes. */
export async function kindOf(path: string): Promise<FileKind | undefined> {
  const file = await open(path);
  try {
    const start = Buffer.alloc(KIND_BYTES);
    await file.read(start, 0, KIND_BYTES, 0);
    return fileKind(start);
  } finally {
    await file.close();
  }
}
