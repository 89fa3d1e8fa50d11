/** For `node --require`: at exit, writes what the process took to fd 3. */
import { readFileSync, writeSync } from "node:fs";

/** What a process of Node took. */
export interface Resources {
  /** The peak memory. */
  peakBytes: number;
  /** The CPU time of all threads, with the start of Node. */
  cpuSeconds: number;
}

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const taken: Resources = { peakBytes: peakMemory(), cpuSeconds: (user + system) / 1e6 };
  writeSync(3, JSON.stringify(taken));
});

function peakMemory(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {
    // Not Linux.
  }
  // Where the system counts the process that started this one, too: an upper bound.
  return process.resourceUsage().maxRSS * 1024;
}
