/** What `attach` says about functions that were running. */

/** A typed value of a frame. */
export interface FrameValue {
  /** The name of a local, with the `$` of the text format if the module names it; the place of an operand from 0. */
  name: string;
  /** `i32`, `i64`, `f32`, `f64`, or the type of a reference. */
  type: string;
  /** As a text: the protocol has no numbers of 64 bits. */
  value: string;
}

/** A WebAssembly function that was running when the thread was paused. */
export interface PausedFrame {
  function: string;
  /** The position in the module in bytes. */
  offset: number;
  /** Whether the function belongs to the module of the dump. */
  isOfModule: boolean;
  /** Parameters and locals. Absent if the function ran already when the debugger was enabled. */
  locals?: FrameValue[];
  /** The operand stack, the oldest first. Absent where `locals` is. */
  operands?: FrameValue[];
}
