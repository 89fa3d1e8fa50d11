/** The bytes of a message that is being received. No more of them are kept than a message may have. */
import { MESSAGE_BYTES } from "./limits.js";

/** The text of a message, or that it has too many bytes. */
export type ReceivedText = string | typeof TOO_LONG;
export const TOO_LONG = Symbol("too long");

/** Bytes of the message that is being received. */
export class Received {
  #pieces: Buffer[] = [];
  #length = 0;

  /** Takes a piece. The rest of a message that is too long is not kept. */
  add(piece: Buffer): void {
    this.#length += piece.length;
    if (this.isTooLong) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  get isTooLong(): boolean {
    return this.#length > MESSAGE_BYTES;
  }

  /** The message, after which the next one begins. */
  take(): ReceivedText {
    const frame = this.isTooLong ? TOO_LONG : Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    this.#length = 0;
    return frame;
  }
}
