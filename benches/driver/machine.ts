/** The machine of a benchmark: only numbers of the same machine can be compared. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";

export interface Machine {
  cpu: string;
  cores: number;
  memoryBytes: number;
  os: string;
  node: string;
  rustc: string;
  /** The commit that was measured; `+` if there were changes on top of it. */
  commit: string;
  /** How many cores other processes kept busy in the second before the first measurement. */
  busyCores: number;
}

export function thisMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    os: `${distribution() ?? os.type()}, kernel ${os.release()}, ${os.arch()}`,
    node: process.version,
    rustc: outputOf("rustc", "--version") ?? "unknown",
    commit: commit(),
    busyCores: busyCores(),
  };
}

export function describe(machine: Machine): string {
  const { cpu, cores, memoryBytes, os, node, rustc, commit } = machine;
  const gigabytes = Math.round(memoryBytes / 2 ** 30);
  return `${cpu}, ${cores} cores, ${gigabytes} GiB; ${os}; Node ${node}, ${rustc}; commit ${commit}`;
}

function busyCores(): number {
  const before = busyMilliseconds();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  return (busyMilliseconds() - before) / 1000;
}

function busyMilliseconds(): number {
  const times = os.cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return times.reduce((sum, time) => sum + time, 0);
}

function distribution(): string | undefined {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

function commit(): string {
  const hash = outputOf("git", "rev-parse", "--short", "HEAD");
  if (hash === undefined) return "unknown";
  const changes = outputOf("git", "status", "--porcelain", "--untracked-files=no");
  return changes === "" ? hash : `${hash}+`;
}

function outputOf(command: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(command, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
