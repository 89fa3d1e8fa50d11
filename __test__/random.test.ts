import { expect, test } from "vitest";
import { BUILD_KINDS, makeBuild } from "./random/builds.ts";
import { judgeStream } from "./random/heap_judge.ts";
import { judgements, randomStream } from "./random/stream.ts";

test.each(BUILD_KINDS)("$name: random", async (kind) => {
  const t0 = performance.now();
  const build = await makeBuild(kind);
  console.log(kind.name, "compile", performance.now() - t0);
  const t1 = performance.now();
  let judged = 0, cut = 0, ops = 0;
  const bad: string[] = [];
  for (let seed = 1; seed <= 40; seed++) {
    const steps = randomStream(seed);
    ops += steps.length;
    try {
    const o = judgeStream(build, steps);
    judged += o.judged; cut += o.cut;
    if (o.disagreement) bad.push(`seed ${seed}: ${o.disagreement}`);
    } catch (e) { bad.push(`seed ${seed}: ${(e as Error).stack?.slice(0, 600)}`); }
  }
  console.log(kind.name, judged, cut, ops, performance.now() - t1, bad.length, bad.slice(0, 4).join("\n"));
  expect(judged).toBeGreaterThan(0);
}, 200000);
