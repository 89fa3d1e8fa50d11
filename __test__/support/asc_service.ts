/** Starts the process that compiles for all test files, and gives them its address in `ASC_SERVER`. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

const SERVER = fileURLToPath(new URL("asc_server.mjs", import.meta.url));

export default async function setup(project: TestProject): Promise<() => void> {
  let stop = await start();
  // It has loaded the transform, which may have been built again.
  project.onTestsRerun(async () => {
    stop();
    stop = await start();
  });
  return () => stop();
}

async function start(): Promise<() => void> {
  const server = fork(SERVER);
  const [address] = await once(server, "message");
  process.env.ASC_SERVER = address;
  return () => server.disconnect();
}
