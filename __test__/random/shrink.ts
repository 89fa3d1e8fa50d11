/** Finds the operations of a stream that are needed for its failure. */

import { Operation } from "../programs/random/support/operations.ts";
import type { Step } from "./stream.ts";

/**
 * The smallest stream found by leaving out operations, ever smaller runs of them, and then by
 * making operands small. Whatever single operation is left out of it, it no longer fails.
 */
export async function shrink(steps: Step[], fails: Fails): Promise<Step[]> {
  return simplifyOperands(await leaveOut(steps, fails), fails);
}

type Fails = (steps: Step[]) => boolean | Promise<boolean>;

async function leaveOut(steps: Step[], fails: Fails): Promise<Step[]> {
  let kept = steps;
  let run = Math.ceil(kept.length / 2);
  while (kept.length > 0) {
    const before = kept.length;
    for (let from = 0; from < kept.length; ) {
      const rest = [...kept.slice(0, from), ...kept.slice(from + run)];
      if (await fails(rest)) kept = rest;
      else from += run;
    }
    if (run > 1) run = Math.ceil(run / 2);
    else if (kept.length === before) break;
  }
  return kept;
}

const SIMPLER: ((operand: number) => number)[] = [
  () => 0,
  () => 1,
  (operand) => operand & 0xff,
  (operand) => operand & 0xffff,
];

async function simplifyOperands(steps: Step[], fails: Fails): Promise<Step[]> {
  let kept = steps;
  for (let at = 0; at < steps.length; at++) {
    for (const operand of [1, 2, 3] as const) {
      for (const simpler of SIMPLER) {
        const step = [...(kept[at] ?? [Operation.End, 0, 0, 0])] as Step;
        if (simpler(step[operand]) === step[operand]) break;
        step[operand] = simpler(step[operand]);
        const candidate = [...kept.slice(0, at), step, ...kept.slice(at + 1)];
        if (await fails(candidate)) {
          kept = candidate;
          break;
        }
      }
    }
  }
  return kept;
}
