/** Hosts without permissions or without space on the disk. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";

/** Quotes for a shell. */
export function shellQuoted(...words: string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

/** Runs a command as a user for whom permissions apply. */
export function runUnprivileged(command: string[], folder: string): SpawnSyncReturns<string> {
  return spawnSync(command[0] as string, command.slice(1), {
    cwd: folder,
    encoding: "utf8",
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
}

/** Why {@link runUnprivileged} is of no use here, if so. */
export function noPermissions(): string | undefined {
  if (process.platform === "win32") return "Windows has no such permissions";
  const reads = `require("fs").accessSync(${JSON.stringify(__filename)})`;
  const { status } = runUnprivileged([process.execPath, "-e", reads], "/");
  return status === 0 ? undefined : "only root can read the package";
}

/** A separate disk for a command: the same shell mounts it before it runs the command. */
const MOUNT = (folder: string, size: number) =>
  `mount -t tmpfs -o size=${size},mode=0777 tmpfs ${shellQuoted(folder)}`;

/** Runs a shell script in which `folder` is a disk of `size` bytes. */
export function runOnSmallDisk(folder: string, size: number, script: string) {
  return spawnSync("unshare", ["-rm", "sh", "-c", `${MOUNT(folder, size)} || exit 99; ${script}`], {
    encoding: "utf8",
  });
}

/** Why {@link runOnSmallDisk} does not work here, if so. */
export function noSmallDisk(): string | undefined {
  const { status } = runOnSmallDisk(tmpdir(), 65536, "true");
  return status === 0 ? undefined : "this user may not mount a disk";
}

/** Why there are no paths for open files here, if so. */
export function noPathsOfOpenFiles(): string | undefined {
  try {
    accessSync("/proc/self/fd", constants.X_OK);
    return process.platform === "linux" ? undefined : "only Linux has them";
  } catch {
    return "there is no /proc";
  }
}
