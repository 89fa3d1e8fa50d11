/** Dumps of the random program while it executes a stream. */
import { captureDump } from "@warpo/heap-analyzer/capture";
import { Operation } from "../programs/random/support/operations.ts";
import type { RandomBuild } from "./builds.ts";
import type { Step } from "./stream.ts";

/** The dumps that the program asks for. */
export function randomDumps(build: RandomBuild, steps: Step[]): Uint8Array[] {
  let at = -1;
  const dumps: Uint8Array[] = [];
  const { exports } = new WebAssembly.Instance(build.module, {
    host: {
      next: () => steps[++at]?.[0] ?? Operation.End,
      operand: (index: number) => steps[at]?.[index + 1] ?? 0,
      dump: () => {
        dumps.push(captureDump(exports));
      },
      markingAt: () => 0,
    },
    env: {
      abort: () => {
        throw new Error("the program aborted");
      },
    },
  });
  (exports.main as () => void)();
  return dumps;
}
