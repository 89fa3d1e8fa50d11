/**
 * A few hundred random heaps, judged by the runtime's collector; `npm run judge` judges as many as
 * asked. And whether the judge itself can be trusted: that it reaches what it is there for, that it
 * notices what is wrong, and that it finds out why.
 */
import { describe, expect, test } from "vitest";
import { Operation } from "./programs/random/support/operations.ts";
import {
  ASC_BUILD_KINDS,
  makeBuild,
  PRIVATE_BUILD_KINDS,
  type RandomBuild,
} from "./random/builds.ts";
import { type CutTotals, noCuts } from "./random/cut_judge.ts";
import { judgeStream } from "./random/heap_judge.ts";
import { shrink } from "./random/shrink.ts";
import { randomStream, type Step } from "./random/stream.ts";

const STREAMS = 20;
/** Each of them asks about a dozen objects, in three builds. */
const ASKED_STREAMS = 4;

describe.each(ASC_BUILD_KINDS)("$name", (kind) => {
  test("the live objects after a collection, the bytes that a cut frees, and the accounting are as the analyzer computed", async () => {
    const build = await makeBuild(kind);
    const totals = { judged: 0, cut: 0 };
    const first = 1000 * ASC_BUILD_KINDS.indexOf(kind);
    for (let seed = first; seed < first + STREAMS; seed++) {
      const { judged, cut, failure } = judgeStream(build, randomStream(seed));
      totals.judged += judged;
      totals.cut += cut;
      expect({ seed, failure }).toEqual({ seed, failure: undefined });
    }
    expect(totals.judged).toBeGreaterThan(STREAMS);
    expect(totals.cut).toBeGreaterThan(STREAMS);
  });
});

describe.each(
  ASC_BUILD_KINDS.filter(({ name }) => name === "unoptimised" || name === "O3-stripped"),
)("questions about objects, $name", (kind) => {
  test("paths exist in memory, cuts free the bytes in the answer, and other builds give the same answer", async () => {
    const build = await makeBuild(kind);
    const totals = noCuts();
    for (let seed = 0; seed < ASKED_STREAMS; seed++) {
      const { answers, failure } = judgeStream(build, randomStream(seed), { answers: true });
      for (const name of Object.keys(totals) as (keyof CutTotals)[]) totals[name] += answers[name];
      expect({ seed, failure }).toEqual({ seed, failure: undefined });
    }
    expect(totals.cuts).toBeGreaterThan(10 * ASKED_STREAMS);
    expect(totals.steps).toBeGreaterThan(ASKED_STREAMS);
    expect(totals.compared).toBeGreaterThan(10 * ASKED_STREAMS);
  });
});

describe("questions about objects of a build that exports no runtime", () => {
  const judged = async (wanted: string) => {
    const kind = PRIVATE_BUILD_KINDS.find(({ name }) => name === wanted);
    const build = await makeBuild(kind as (typeof PRIVATE_BUILD_KINDS)[0]);
    return judgeStream(build, randomStream(0), { answers: true });
  };

  test("cuts call its collector if the optimiser left one", async () => {
    const { answers, failure } = await judged("unoptimised-private");
    expect(failure).toBeUndefined();
    expect(answers.cuts).toBeGreaterThan(10);
    expect(answers.uncollectable).toBe(0);
  });

  // Binaryen takes half a minute for this build: `npm run test:full -- variants`.
  test.runIf(process.env.TEST_ALL !== undefined)(
    "paths are judged, and no cuts, if the optimiser copied the collector into its callers",
    async () => {
      const { answers, failure } = await judged("Binaryen-O1-much-private");
      expect(failure).toBeUndefined();
      expect(answers.cuts).toBe(0);
      expect(answers.uncollectable).toBeGreaterThan(10);
      expect(answers.steps).toBeGreaterThan(0);
      expect(answers.compared).toBeGreaterThan(10);
    },
  );
});

describe("the judge", () => {
  const steps = randomStream(7);

  /** A build with wrong debug information about the class of nodes. */
  const lyingBuild = async (): Promise<RandomBuild> => {
    const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
    const classNames = new Map(
      [...build.classNames].map(([id, name]) => [id, name === "support/values/Wide" ? "?" : name]),
    );
    return { ...build, classNames };
  };

  test("generates the same stream from the same seed", () => {
    expect(randomStream(7)).toEqual(steps);
    expect(randomStream(8)).not.toEqual(steps);
  });

  test("chooses every operation in some stream", () => {
    const chosen = new Set<Operation>();
    for (let seed = 0; seed < 20; seed++)
      for (const [operation] of randomStream(seed)) chosen.add(operation);
    const all = Object.values(Operation).filter((value) => typeof value === "number");
    expect([...chosen].sort()).toEqual(all.filter((value) => value !== Operation.End).sort());
  });

  test("notices references that an answer does not have", async () => {
    const build = await makeBuild(ASC_BUILD_KINDS[0] as (typeof ASC_BUILD_KINDS)[0]);
    const { classes, globals } = build.description;
    // In the class table, nodes have no references.
    const withoutFields = classes.map((one) =>
      one.name === "support/values/Node" ? { ...one, fields: [] } : one,
    );
    const lying = { ...build, description: { producer: "", classes: withoutFields, globals } };
    const failures = [0, 1, 2, 3].map(
      (seed) => judgeStream(lying, randomStream(seed), { answers: true }).failure?.by,
    );
    expect(failures).toContain("analyzer");
  });

  test("detects a disagreement and reduces it to the operations that cause it", async () => {
    const build = await lyingBuild();
    const fails = (steps: Step[]) => judgeStream(build, steps).failure?.by === "analyzer";
    expect(fails(steps)).toBe(true);
    const few = await shrink(steps, fails);
    expect(judgeStream(build, few).failure?.message).toMatch(/is a \?, not support\/values\/Wide/);
    expect(few.length).toBeLessThanOrEqual(3);
    for (let at = 0; at < few.length; at++)
      expect(fails([...few.slice(0, at), ...few.slice(at + 1)])).toBe(false);
  });
});
