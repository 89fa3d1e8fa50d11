/** Streams of operations for the random program: the same seed gives the same stream. */

import { Operation } from "../programs/random/support/operations.ts";

export type Step = [operation: Operation, a: number, b: number, c: number];

/** Whole numbers from 0 to `below` − 1 (mulberry32). */
export type Random = (below: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** How often an operation is chosen, compared to the others. */
const WEIGHTS: [Operation, number][] = [
  [Operation.MakeNode, 12],
  [Operation.Link, 10],
  [Operation.Unlink, 5],
  [Operation.SetRoot, 8],
  [Operation.ClearRoot, 2],
  [Operation.ChangeRegistry, 2],
  [Operation.MakeContainer, 8],
  [Operation.UseContainer, 20],
  [Operation.DropContainer, 2],
  [Operation.Attach, 10],
  [Operation.MakeGarbage, 6],
  [Operation.Pin, 3],
  [Operation.Unpin, 3],
  [Operation.MakeRaw, 5],
  [Operation.FreeRaw, 3],
  [Operation.ResizeRaw, 2],
  [Operation.MakeRawRing, 1],
  [Operation.GrowMemory, 1],
  [Operation.MakeLarge, 1],
  [Operation.Call, 4],
  [Operation.Return, 4],
  [Operation.Collect, 1],
];

const STRETCHES = 4;
const LONGEST_STRETCH = 60;
const MOST_CUTS = 4;

/** A few random sequences, each followed by a judgement, and removed references at the end. */
export function randomStream(seed: number): Step[] {
  const random = randomFrom(seed);
  // Rare combinations are found sooner if some kinds of operations are left out.
  const weights = WEIGHTS.map(([operation, weight]): [Operation, number] => [
    operation,
    random(4) === 0 ? 0 : random(4) === 0 ? 4 * weight : weight,
  ]);
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  const choose = (): Operation => {
    let left = random(Math.max(total, 1));
    for (const [operation, weight] of weights) {
      left -= weight;
      if (left < 0) return operation;
    }
    return Operation.MakeNode;
  };
  const operand = () => random(2 ** 31);
  const steps: Step[] = [];
  for (let stretch = 1 + random(STRETCHES); stretch > 0; stretch--) {
    for (let length = 1 + random(LONGEST_STRETCH); length > 0; length--)
      steps.push([choose(), operand(), operand(), operand()]);
    steps.push([Operation.Judge, 0, 0, 0]);
  }
  steps.push([Operation.CutReferences, 1 + random(MOST_CUTS), 0, 0]);
  return steps;
}

/** One operation a line, for people. */
export function describeStream(steps: Step[]): string {
  return steps
    .map(([operation, ...operands]) => `  ${Operation[operation]} ${operands.join(" ")}`)
    .join("\n");
}
