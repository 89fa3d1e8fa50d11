/** One of the judge's threads: judges the streams that it is sent, until there are no more. */

import { parentPort, workerData } from "node:worker_threads";

import { BUILD_KINDS, makeBuild, type RandomBuild } from "./builds.ts";
import { judgeStream } from "./heap_judge.ts";
import type { Report, Task } from "./messages.ts";
import { randomStream } from "./stream.ts";

const names = workerData as string[];
const builds: RandomBuild[] = [];
for (const kind of BUILD_KINDS) if (names.includes(kind.name)) builds.push(await makeBuild(kind));

parentPort?.on("message", ({ from, count }: Task) => {
  const report: Report = { judged: 0, cut: 0, failures: [] };
  for (let seed = from; seed < from + count; seed++) {
    const build = builds[seed % builds.length] as RandomBuild;
    const { judged, cut, failure } = judgeStream(build, randomStream(seed));
    report.judged += judged;
    report.cut += cut;
    if (failure) report.failures.push({ ...failure, seed, build: build.name });
  }
  parentPort?.postMessage(report);
});
