// What a program writes to stderr, without the lines that Node itself writes there about its inspector.

import { Transform, type TransformCallback } from "node:stream";

/** How the lines of Node begin. */
const BEGINNINGS = ["Debugger ", "For help, see: https:", "Waiting for the debugger "];
const INSPECTOR_LINE =
  /^(Debugger (listening|attached|ending)|For help, see: https:|Waiting for the debugger to disconnect\.\.\.$)/m;
/** No line of Node about its inspector is longer. Of other lines, nothing is kept. */
const LONGEST = 1000;
const LINE_END = "\n".charCodeAt(0);

/** Passes on everything else. An event `address` has the address of the inspector. */
export class InspectorLines extends Transform {
  /** The part of a line that may become one of Node's. */
  #held = Buffer.alloc(0);
  /** Whether the rest of the line is of the program. */
  #isPassing = false;

  override _transform(piece: Buffer, _: BufferEncoding, done: TransformCallback): void {
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(LINE_END, from);
      const to = end < 0 ? piece.length : end + 1;
      this.#take(piece.subarray(from, to), end >= 0);
      from = to;
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#held.length > 0) this.push(this.#held);
    done();
  }

  /** Takes a part of a line, which may be its last one. */
  #take(part: Buffer, isEnd: boolean): void {
    if (this.#isPassing) this.push(part);
    else this.#hold(part, isEnd);
    if (isEnd) this.#isPassing = false;
  }

  #hold(part: Buffer, isEnd: boolean): void {
    const line = Buffer.concat([this.#held, part]);
    const text = line.subarray(0, LONGEST).toString();
    this.#held = Buffer.alloc(0);
    if (isEnd && line.length <= LONGEST && INSPECTOR_LINE.test(text)) {
      const address = /^Debugger listening on (ws:\/\/\S+)/.exec(text)?.[1];
      if (address !== undefined) this.emit("address", address);
      return;
    }
    const mayBecome = BEGINNINGS.some((one) => one.startsWith(text) || text.startsWith(one));
    if (!isEnd && line.length <= LONGEST && mayBecome) {
      this.#held = line;
    } else {
      this.push(line);
      this.#isPassing = !isEnd;
    }
  }
}
