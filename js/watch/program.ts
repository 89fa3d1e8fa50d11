// The program that `watch` looks at: whether it still runs, and how it is started.

import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { HeapAnalyzerError } from "../errors.js";
import { InspectorLines } from "./inspector_lines.js";

/** How long Node may take to open its inspector, in milliseconds. */
const START = 30_000;

/** A running program. */
export interface StartedProgram {
  /** The address of its inspector. Rejected if it ends before Node opened one. */
  url: Promise<string>;
  /** Settles when it has ended. */
  ended: Promise<unknown>;
  /** Ends it. */
  stop(): void;
}

/**
 * Starts a program. It reads and writes the standard streams of this process.
 *
 * @param command `node`, its options, the script and its arguments.
 * @param dumpAtTrap a folder for the dump of the moment in which a trap, or a `memory.grow` that failed, ends it.
 */
export function startProgram(
  command: readonly string[],
  dumpAtTrap: string | undefined,
): StartedProgram {
  const [node = "", ...args] = command;
  if (!/^node(\.exe)?$/.test(basename(node))) {
    throw new HeapAnalyzerError(
      "ERR_ATTACH_TARGET",
      `cannot start ${node}: expected node, its options, the script and its arguments`,
    );
  }
  const env = { ...process.env };
  const flags = ["--inspect=127.0.0.1:0"];
  if (dumpAtTrap !== undefined) {
    flags.push("--import", pathToFileURL(require.resolve("../register.js")).href);
    Object.assign(env, { HEAP_DUMP_AT_TRAP: "1", HEAP_DUMP_DIRECTORY: dumpAtTrap });
  }
  const child = spawn(node, [...flags, ...args], { env, stdio: ["inherit", "inherit", "pipe"] });
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
    child.once("error", resolve);
  });
  return { url: inspectorAddress(child), ended, stop: () => child.kill() };
}

/** Passes on what the program writes to stderr, and finds the address that Node writes there. */
function inspectorAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new HeapAnalyzerError("ERR_ATTACH_TARGET", `cannot watch the program: ${why}`));
    };
    const timer = setTimeout(
      () => fail(`Node did not open its inspector within ${START / 1000} s`),
      START,
    );
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) =>
      fail(`it ended with exit code ${code} before Node opened its inspector`),
    );
    const lines = new InspectorLines().once("address", (url: string) => {
      clearTimeout(timer);
      resolve(url);
    });
    // A program that writes faster than this process's stderr is read waits, as without this process.
    child.stderr?.pipe(lines).pipe(process.stderr, { end: false });
  });
}

/**
 * Whether a target has ended, or ends within a second: its connections may close first.
 *
 * @param target a process id, or the address of an inspector.
 */
export async function hasEnded(target: string): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    if (!(await isRunning(target))) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function isRunning(target: string): Promise<boolean> {
  if (/^\d+$/.test(target)) {
    try {
      return process.kill(Number(target), 0);
    } catch {
      return false;
    }
  }
  const { hostname, port } = new URL(target);
  return await new Promise((resolve) => {
    const socket = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ""));
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
