/** Takes a dump of a server that runs already and was not prepared. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Starts the server in a process of its own, attaches to it while it serves, and prints what leaks.
 *
 * @param example the folder with the script of the server.
 * @param folder where the dump goes.
 */
export async function showAttach(
  cli: string,
  example: string,
  wasmFile: string,
  folder: string,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const script = join(example, "run-server.mjs");
  const server = spawn(process.execPath, ["--inspect=127.0.0.1:0", script, wasmFile], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    const [text] = await once(server.stderr, "data");
    const address = /ws:\/\/\S+/.exec(String(text))?.[0];
    if (address === undefined) throw new Error(`the server has no inspector: ${text}`);
    await once(server.stdout, "data");
    const dump = join(folder, "running.dump");
    console.log(
      "\nA dump of a server that runs and was not prepared, by its inspector (attach):\n",
    );
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [cli, ...args], { stdio: "inherit" });
    run("attach", address, "--output", dump, "--host");
    run("suspects", dump, "--wasm", join(folder, "running.wasm"), "--limit", "1");
    console.log(`\nIts JavaScript objects, of the same moment, are in
  ${relative(process.cwd(), join(folder, "running.heapsnapshot"))}`);
  } finally {
    server.kill();
  }
}
