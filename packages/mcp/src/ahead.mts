/** What a client sends is read ahead, so that its end is seen while messages wait for a client that does not read. */
import type { Readable } from "node:stream";
import { AHEAD_BYTES } from "../../../js/served/limits.ts";

export class Ahead {
  readonly #input: Readable;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #hasEnded = false;
  #notify = () => {};

  constructor(input: Readable) {
    this.#input = input;
    // However the stream ends, the client is gone.
    for (const event of ["end", "close", "error"]) input.on(event, () => this.#end());
    input.on("data", (piece: Buffer) => {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
      if (this.#bytes > AHEAD_BYTES) input.pause();
      this.#notify();
    });
  }

  /** Whether the client has sent all that it will, though not all of it may have been taken. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The pieces of the stream, until it ends. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.#bytes -= piece.length;
        if (this.#bytes <= AHEAD_BYTES) this.#input.resume();
        yield piece;
      } else if (this.#hasEnded) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#notify = resolve;
        });
      }
    }
  }

  #end(): void {
    this.#hasEnded = true;
    this.#notify();
  }
}
