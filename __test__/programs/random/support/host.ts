// The interface between the program and the judge: the source of operations, and the times of dumps.
// @ts-ignore: decorator
@external("host", "next")
export declare function next(): i32;

// @ts-ignore: decorator
@external("host", "operand")
export declare function operand(index: i32): i32;

// @ts-ignore: decorator
@external("host", "dump")
export declare function dump(moment: i32): void;

/** The block of the object at which a marking collector is, or 0. */
// @ts-ignore: decorator
@external("host", "markingAt")
export declare function markingAt(): usize;

export const BEFORE_COLLECTION: i32 = 0;
export const AFTER_COLLECTION: i32 = 1;
export const BEFORE_CUT: i32 = 2;
export const AFTER_CUT: i32 = 3;
