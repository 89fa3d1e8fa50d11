/** The files that the page has handed to this worker. */

export interface HeldFile {
  name: string;
  blob: Blob;
}

const files = new Map<string, HeldFile>();

/** Keeps a file, and returns the path under which it is known here. */
export function hold(file: HeldFile): string {
  const path = `${files.size}/${file.name}`;
  files.set(path, file);
  return path;
}

export function fileAt(path: string): HeldFile {
  const file = files.get(path);
  if (file !== undefined) return file;
  throw Object.assign(new Error(`${path}: there is no such file`), { code: "ERR_IO" });
}
