/** The code of a thread of the judge: it judges the streams and builds that it receives, one at a time. */

import { parentPort } from "node:worker_threads";

import { BUILD_KINDS, makeBuild, type RandomBuild } from "./builds.ts";
import { judgeStream } from "./heap_judge.ts";
import { reportSmallBuild } from "./small_report.ts";
import type { Task } from "./thread.ts";

const builds = new Map<string, RandomBuild>();

async function buildNamed(name: string): Promise<RandomBuild> {
  const kind = BUILD_KINDS.find((kind) => kind.name === name);
  if (!kind) throw new Error(`there is no build ${name}`);
  const build = builds.get(name) ?? (await makeBuild(kind));
  builds.set(name, build);
  return build;
}

parentPort?.on("message", async (task: Task) => {
  const answer =
    "smallSeed" in task
      ? await reportSmallBuild(task.smallSeed)
      : judgeStream(await buildNamed(task.build), task.steps, task);
  parentPort?.postMessage(answer);
});
