/**
 * Loads a snapshot with the code of Chrome's DevTools, as DevTools does with a second worker, and prints the time
 * and the sums as JSON: `node build/devtools/load.mjs <file.heapsnapshot>`. Bundled for the benchmark.
 */

import "./with_resolvers.mts";
// The bundler replaces both. Their types are in `snapshot.ts`: the compiler must not read all of DevTools.
import * as snapshotCode from "devtools:HeapSnapshot";
import * as loaderCode from "devtools:HeapSnapshotLoader";
import { createReadStream } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { MessageChannel, parentPort, Worker } from "node:worker_threads";
import type { DevToolsCode } from "./snapshot.ts";

const { HeapSnapshotLoader, SecondaryInitManager } = {
  ...loaderCode,
  ...snapshotCode,
} as DevToolsCode;

if (parentPort !== null) {
  parentPort.once("message", (port) => new SecondaryInitManager(port));
} else {
  await load(process.argv[2] as string);
}

async function load(file: string): Promise<void> {
  // It warns about nodes without strong references.
  console.warn = () => {};
  const second = new Worker(new URL(import.meta.url), { execArgv: [] });
  const { port1, port2 } = new MessageChannel();
  second.postMessage(port2, [port2]);
  const [begin, cpu] = [performance.now(), process.cpuUsage()];
  const loader = new HeapSnapshotLoader({ sendEvent() {} });
  const decoder = new StringDecoder();
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    loader.write(decoder.write(chunk));
  }
  loader.close();
  const snapshot = await loader.buildSnapshot(port1 as unknown as MessagePort);
  const classes = Object.values(snapshot.aggregatesWithFilter({}));
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const times = { seconds, cpuSeconds: (user + system) / 1e6 };
  const retained = classes.reduce((sum, { maxRet }) => sum + maxRet, 0);
  console.log(
    JSON.stringify({ ...times, classes: classes.length, size: snapshot.totalSize, retained }),
  );
  await second.terminate();
  port1.close();
}
