/** The files of a host that are joined with a dump: its heap snapshot, the numbers that this does not show, and who pinned what. */
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

/** The files at these paths, below the roots. */
export async function hostFiles(roots: Roots, paths: HostPaths): Promise<HostFiles> {
  const { snapshot, numbers, handles } = paths;
  const optional = async (what: string, path: string | undefined) =>
    path === undefined ? undefined : await roots.file(what, path);
  return {
    snapshot: await roots.file("heap snapshot", snapshot),
    numbers: await optional("file of numbers", numbers),
    handles: await optional("file of handles", handles),
  };
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
