/**
 * Small random programs as optimisers leave them: `asc` at every level, then Binaryen with any
 * pipeline and any inlining, with debug information of four kinds and with all, some or none of
 * the names. `npm run judge` judges many more of them.
 */
import { describe, expect, test } from "vitest";
import { INLINED_BUILD_KINDS, makeBuild } from "./random/builds.ts";
import { judgeStream } from "./random/heap_judge.ts";
import {
  BUILDS_PER_PROGRAM,
  describeBuild,
  planSmallBuild,
  smallBuild,
} from "./random/small_build.ts";
import { judgeDumps, runSmallBuild } from "./random/small_judge.ts";
import { randomStream } from "./random/stream.ts";

/** Chosen because they are quickly compiled and optimised. */
const PROGRAMS = [1, 2, 3, 4];
const STREAMS = 5;

/** Inlining everything makes modules that take seconds to optimise. */
function isQuick(seed: number): boolean {
  const { binaryen } = planSmallBuild({ seed, isUnusual: false });
  return binaryen?.inlining !== "everything" || binaryen.run === "O1";
}

test.each(PROGRAMS)(
  "small program %i: in every build exactly what a collection leaves is live, and nothing is in doubt",
  async (program) => {
    const seeds = Array.from(
      { length: BUILDS_PER_PROGRAM },
      (_, at) => BUILDS_PER_PROGRAM * program + at,
    );
    const failures = [];
    for (const seed of seeds.filter(isQuick)) {
      const build = await smallBuild({ seed, isUnusual: false });
      const failure = judgeDumps(build, runSmallBuild(build));
      if (failure) failures.push({ seed, build: describeBuild(build), ...failure });
    }
    expect(failures).toEqual([]);
  },
);

describe.each(INLINED_BUILD_KINDS.filter(({ binaryen }) => binaryen?.run === "inlining"))(
  "the random program, $name",
  (kind) => {
    test("the live objects after a collection, the bytes that a cut frees, and the accounting are as the analyzer computed", async () => {
      const build = await makeBuild(kind);
      for (let seed = 0; seed < STREAMS; seed++)
        expect({ seed, failure: judgeStream(build, randomStream(seed)).failure }).toEqual({
          seed,
          failure: undefined,
        });
    });
  },
);
