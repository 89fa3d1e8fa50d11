/** For `node --require`: at exit, writes the peak memory of the process in bytes to fd 3. */
import { readFileSync, writeSync } from "node:fs";

process.on("exit", () => {
  writeSync(3, String(peakMemory()));
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
