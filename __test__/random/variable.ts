/** What the global variables of random programs are made of. */

import type { Random } from "./stream.ts";

/** A global variable and its uses in the program. */
export interface Variable {
  declaration: string;
  /** Statements of a loop over `i`, and statements after which less is alive. */
  fill: string;
  shrink: string;
}

export type Shape = (name: string, make: Maker, random: Random) => Variable;

export interface Maker {
  /** The name of a class, and an expression that creates an object of it. */
  type: string;
  object: string;
}
