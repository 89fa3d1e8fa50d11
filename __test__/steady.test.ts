/**
 * `expectNoLeak` and `check` with their defaults on random programs that keep a bounded number of things: no false
 * alarm, and every leak is found. `npm run judge -- --steady 2000` judges thousands.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import { judgeSteady, planSteady, runSteady, type SteadyPlan } from "./random/steady_judge.ts";
import { rounds } from "./support/nightly.ts";

const STEADY = rounds(12, 4);
const LEAKING = rounds(12, 4);

/** A program of one part: `amount` per round up to `most`. */
function onePart(kind: number, amount: number, most: number): SteadyPlan {
  return { seed: 0, optimised: false, parts: [{ kind, amount, most }], leak: undefined };
}

const RING = 0;

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a program of bounded parts", () => {
  test("passes", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    for (let seed = 0; seed < STEADY; seed++) {
      const plan = planSteady(seed, false);
      expect([seed, judgeSteady(plan, await runSteady(plan))]).toEqual([seed, undefined]);
    }
  });

  test("fails if one part leaks, and the part is named", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    for (let seed = 0; seed < LEAKING; seed++) {
      const plan = planSteady(seed, true);
      expect([seed, judgeSteady(plan, await runSteady(plan))]).toEqual([seed, undefined]);
    }
  });

  test("fails if a part fills only after the last round: from the dumps, that is a leak", async () => {
    const plan = onePart(RING, 10, 110);
    expect(judgeSteady(plan, await runSteady(plan))).toContain("fails a steady program");
  });
});

describe("a ring of which the strings gain digits after it is full", () => {
  test("passes without a note if it was full some rounds before the last", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const { error, answer } = await runSteady(onePart(RING, 30, 128));
    expect([error, answer.passed, answer.undecided]).toEqual([undefined, true, []]);
    expect(warn).not.toHaveBeenCalled();
  });

  test("passes with a note that says when it stopped and what to raise, and fails with strict", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const { error, answer } = await runSteady(onePart(RING, 16, 128));
    expect(error).toBeUndefined();
    expect(answer.undecided.map(({ stoppedAfter }) => stoppedAfter)).toEqual([8]);
    expect(warn.mock.calls).toMatchInlineSnapshot(`
      [
        [
          "expectNoLeak: undecided: global bounded/ring > ~lib/array/Array<bounded/Entry>[*] > bounded/Entry stopped growing after round 8 (48 → 64 → 80 → 96 → 112 → 128 → 128 → 128); to decide, raise warmup to 8, or rounds; with strict it fails",
        ],
      ]
    `);
    const strict = await runSteady(onePart(RING, 16, 128), { strict: true });
    expect(strict.error?.code).toBe("ERR_LEAK");
    expect(strict.answer.passed).toBe(false);
  });

  test("passes with a note if it fills in the last round by less than before", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const { error, answer } = await runSteady(onePart(RING, 30, 277));
    expect([error, answer.passed]).toEqual([undefined, true]);
    expect(answer.undecided.map(({ stoppedAfter }) => stoppedAfter)).toEqual([null]);
    expect(warn).toHaveBeenCalledOnce();
  });
});
