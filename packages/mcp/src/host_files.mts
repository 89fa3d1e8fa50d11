/** The files of a host that are joined with a dump: its heap snapshot, the numbers that this does not show, and who pinned what. */
import { namesBeside } from "../../../js/host_numbers.ts";
import { QuestionError } from "../../../js/served/errors.ts";
import type { RootFile, Roots } from "./roots.mts";

/** What a request says of them. */
export interface HostPaths {
  snapshot: string;
  numbers?: string;
  handles?: string;
  slots: string[];
}

/** The files. */
export interface HostFiles {
  snapshot: RootFile;
  numbers: RootFile | undefined;
  handles: RootFile | undefined;
}

/** The files at these paths, below the roots. What is not given is beside the snapshot and the dump. */
export async function hostFiles(
  roots: Roots,
  dump: RootFile,
  paths: HostPaths,
): Promise<HostFiles> {
  const { numbers, handles } = paths;
  const snapshot = await roots.file("heap snapshot", paths.snapshot);
  return {
    snapshot,
    numbers:
      numbers === undefined
        ? await firstOf(roots, "file of numbers", namesBeside("numbers", snapshot.real))
        : await roots.file("file of numbers", numbers),
    handles:
      handles === undefined
        ? await firstOf(roots, "file of handles", namesBeside("handles", dump.real))
        : await roots.file("file of handles", handles),
  };
}

/** The first of these files that there is. */
async function firstOf(roots: Roots, what: string, paths: string[]): Promise<RootFile | undefined> {
  for (const path of paths) {
    const found = await roots.file(what, path).catch((error: unknown) => {
      if (error instanceof QuestionError && error.code === "ERR_NO_FILE") return undefined;
      throw error;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All of them. */
export function filesOfHost(host: HostFiles | undefined): RootFile[] {
  return [host?.snapshot, host?.numbers, host?.handles].filter((file) => file !== undefined);
}

/** The options of opening a heap for its host. */
export interface HostOpenOptions {
  host?: string;
  numbers?: string;
  handles?: string;
  slots?: string[];
}

/** The open files of a host. */
export interface HostDescriptors {
  host?: number;
  numbers?: number;
  handles?: number;
}

/** Opens the files of a host for the time of some work. */
export async function withHost<T>(
  roots: Roots,
  host: HostFiles | undefined,
  slots: string[],
  work: (options: HostOpenOptions, descriptors: HostDescriptors) => Promise<T>,
): Promise<T> {
  if (host === undefined) return await work({}, {});
  const named = [
    ["host", host.snapshot],
    ["numbers", host.numbers],
    ["handles", host.handles],
  ] as const;
  const open = async (
    nth: number,
    options: HostOpenOptions,
    descriptors: HostDescriptors,
  ): Promise<T> => {
    const [name, file] = named[nth] ?? [];
    if (name === undefined) return await work(options, descriptors);
    if (file === undefined) return await open(nth + 1, options, descriptors);
    return await roots.use(file, (descriptor) =>
      open(nth + 1, { ...options, [name]: file.real }, { ...descriptors, [name]: descriptor }),
    );
  };
  return await open(0, { slots }, {});
}
