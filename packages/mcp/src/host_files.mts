/** The files of a host that are joined with a dump: its heap snapshot, and the numbers that this does not show. */
import type { RootFile, Roots } from "./roots.mts";

/** What a request says of them. */
export interface HostPaths {
  snapshot: string;
  numbers?: string;
  slots: string[];
}

/** The files. */
export interface HostFiles {
  snapshot: RootFile;
  numbers: RootFile | undefined;
}

/** The files at these paths, below the roots. */
export async function hostFiles(roots: Roots, { snapshot, numbers }: HostPaths): Promise<HostFiles> {
  return {
    snapshot: await roots.file("heap snapshot", snapshot),
    numbers: numbers === undefined ? undefined : await roots.file("file of numbers", numbers),
  };
}

/** All of them. */
export function filesOfHost(host: HostFiles | undefined): RootFile[] {
  return [host?.snapshot, host?.numbers].filter((file) => file !== undefined);
}

/** The options of opening a heap for its host. */
export interface HostOptions {
  host?: string;
  numbers?: string | null;
  slots?: string[];
}

/** Opens the files of a host for the time of some work. */
export async function withHost<T>(
  roots: Roots,
  host: HostFiles | undefined,
  slots: string[],
  work: (options: HostOptions, descriptors: { host?: number; numbers?: number }) => Promise<T>,
): Promise<T> {
  if (host === undefined) return await work({}, {});
  const { snapshot, numbers } = host;
  return await roots.use(snapshot, async (ofHost) => {
    const options = { host: snapshot.real, slots };
    if (numbers === undefined) return await work({ ...options, numbers: null }, { host: ofHost });
    return await roots.use(numbers, (ofNumbers) =>
      work({ ...options, numbers: numbers.real }, { host: ofHost, numbers: ofNumbers }),
    );
  });
}
