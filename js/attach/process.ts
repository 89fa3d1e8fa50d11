// What the system says of a process. It is asked before the process gets a signal, which ends programs that do not
// expect it.

import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from "node:fs";
import { constants } from "node:os";
import { HeapAnalyzerError } from "../errors.js";
import { refuse } from "../inspector/list.js";

/** The names of Node's program: `node`, `nodejs`, `node-22`, `node18`. */
const NODE = /^node(js)?(-?v?\d+(\.\d+)*)?(\.exe)?$/;
/** What Node writes when it opens its inspector, as its program contains it. */
const MARK = Buffer.from("Debugger listening on ");
const PIECE = 4 * 1024 * 1024;

/** Fails if this user cannot attach to a process, or it does not run Node. Asks only the system. */
export function checkNode(pid: number): void {
  if (!(Number.isSafeInteger(pid) && pid > 0 && pid < 2 ** 31)) {
    throw refuse(`cannot attach to process ${pid}: this is no process id`);
  }
  if (pid === process.pid) throw refuse("a process cannot attach to itself: use captureDump");
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ESRCH";
    const why = isGone ? "there is no such process, or it has ended" : (error as Error).message;
    throw refuse(`cannot attach to process ${pid}: ${why}`, error);
  }
  if (process.platform !== "linux") return;
  const program = asked(pid, () => {
    const owner = statSync(`/proc/${pid}`).uid;
    if (owner !== process.getuid?.()) {
      throw refuse(`cannot attach to process ${pid}: it belongs to user ${owner}, not to this one`);
    }
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "");
  });
  if (!NODE.test(program.slice(program.lastIndexOf("/") + 1))) {
    const hint = /(^|\/)deno[^/]*$/.test(program)
      ? "; start it with --inspect=127.0.0.1:0, and attach to the address that it prints"
      : "";
    throw refuse(`cannot attach to process ${pid}: it runs ${program}, which is not Node${hint}`);
  }
}

/**
 * Fails if the signal that opens Node's inspector could end a process: its program is not Node's, it handles no such
 * signal, or the system does not say.
 */
export function checkSignal(pid: number): void {
  checkNode(pid);
  // Windows sends no signal: Node starts a thread in the process, if that is Node and allows it.
  if (process.platform === "win32") return;
  if (process.platform !== "linux") {
    throw refuse(
      `cannot open the inspector of process ${pid}: only Linux and Windows say whether the signal for it would end the process; start it with --inspect=127.0.0.1:0, and attach to the address that it prints`,
    );
  }
  if (!isNodeItself(pid)) {
    throw refuse(`cannot attach to process ${pid}: its program has Node's name, and is not Node`);
  }
  const status = asked(pid, () => readFileSync(`/proc/${pid}/status`, "utf8"));
  const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
  if (((caught >> BigInt(constants.signals.SIGUSR1 - 1)) & 1n) === 0n) {
    throw refuse(
      `cannot open the inspector of process ${pid}: it does not handle SIGUSR1, which would end it (a Node that was started with --disable-sigusr1, or has only begun to run)`,
    );
  }
}

/** Whether the program of a process, or a library of Node that it has loaded, is Node. */
function isNodeItself(pid: number): boolean {
  return asked(pid, () => {
    const own = statSync(process.execPath);
    const program = statSync(`/proc/${pid}/exe`);
    if (program.dev === own.dev && program.ino === own.ino) return true;
    if (hasMark(`/proc/${pid}/exe`)) return true;
    return /\/libnode\.so[.\d]*$/m.test(readFileSync(`/proc/${pid}/maps`, "utf8"));
  });
}

function hasMark(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const piece = Buffer.alloc(PIECE + MARK.length);
    for (let at = 0; ; at += PIECE) {
      const size = readSync(file, piece, 0, piece.length, at);
      if (piece.subarray(0, size).includes(MARK)) return true;
      if (size < piece.length) return false;
    }
  } finally {
    closeSync(file);
  }
}

/** Asks the system. A process may end meanwhile. */
function asked<T>(pid: number, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof HeapAnalyzerError) throw error;
    throw refuse(`cannot attach to process ${pid}: ${(error as Error).message}`, error);
  }
}

/** A process id and, where the system says it, when the process began: ids are used again. */
export function identityOf(pid: number): string {
  if (process.platform !== "linux") return `process ${pid}`;
  const stat = asked(pid, () => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return `process ${pid}, since ${stat.split(")").at(-1)?.split(" ")[20]}`;
}

/** Where Node's inspector listens after a signal, unless the process was told another port. */
export const DEFAULT_PORT = 9229;

/** The port on which a process opens its inspector after a signal; 0 if it takes a free one. */
export function portToOpen(pid: number): number {
  try {
    const words = ["environ", "cmdline"].map((name) =>
      readFileSync(`/proc/${pid}/${name}`, "utf8"),
    );
    const found = words.join("\0").matchAll(/--(?:inspect|debug)-port[=\0](?:[^\s\0]*:)?(\d+)/g);
    // What is in the command line is last, and wins.
    return Number([...found].at(-1)?.[1] ?? DEFAULT_PORT);
  } catch {
    return DEFAULT_PORT;
  }
}

/** The ports on which a process listens; undefined where the system does not say. */
export function listeningPorts(pid: number): number[] | undefined {
  if (!existsSync(`/proc/${pid}/net/tcp`)) return undefined;
  const sockets = new Set<string>();
  for (const file of asked(pid, () => readdirSync(`/proc/${pid}/fd`))) {
    try {
      const socket = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${file}`))?.[1];
      if (socket !== undefined) sockets.add(socket);
    } catch {
      // It was closed in between.
    }
  }
  const ports: number[] = [];
  for (const line of asked(pid, () => readFileSync(`/proc/${pid}/net/tcp`, "utf8")).split("\n")) {
    const [, local, , state, , , , , , socket] = line.trim().split(/\s+/);
    // State 0A listens.
    if (state !== "0A" || local === undefined || !sockets.has(socket ?? "")) continue;
    ports.push(Number.parseInt(local.split(":")[1] ?? "", 16));
  }
  return ports;
}
