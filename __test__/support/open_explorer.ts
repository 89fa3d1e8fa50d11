/** The explorer as its users start it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { CLI } from "./command_line.ts";

/** Starts `open` without a browser, and waits for its address. */
export async function startOpen(
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ url: URL; child: ChildProcess }> {
  const child = spawn(process.execPath, [CLI, "open", ...args, "--no-browser"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await once(lines, "line")) as [string];
  return { url: new URL(line), child };
}
