/** Messages within a stream of bytes. No more bytes of a message are kept than a message may have. */
import { Received, type ReceivedText } from "../../../js/served/received.ts";

/** Cuts a stream into messages. */
export interface Framing {
  /** The messages that end in this piece of the stream, one after the other. Fails if no further message can be found. */
  read(piece: Buffer): Iterable<ReceivedText>;
}

/** One message a line, as MCP has them. */
export class Lines implements Framing {
  readonly #received = new Received();

  *read(piece: Buffer): Iterable<ReceivedText> {
    let start = 0;
    for (;;) {
      const end = piece.indexOf(0x0a, start);
      this.#received.add(piece.subarray(start, end < 0 ? undefined : end));
      if (end < 0) return;
      start = end + 1;
      yield this.#received.take();
    }
  }
}

const END_OF_HEADER = "\r\n\r\n";
/** Bytes of a header: two fields with short values. */
const HEADER_BYTES = 1024;

/** A header with `Content-Length` before each message, as in the Language Server Protocol. */
export class HeaderFraming implements Framing {
  readonly #received = new Received();
  #header = "";
  /** The bytes of the message that are still to come, after its header. */
  #missing: number | undefined;

  *read(piece: Buffer): Iterable<ReceivedText> {
    let rest = piece;
    while (rest.length > 0) {
      if (this.#missing === undefined) rest = this.#readHeader(rest);
      if (this.#missing === undefined) continue;
      const part = rest.subarray(0, this.#missing);
      rest = rest.subarray(part.length);
      this.#missing -= part.length;
      this.#received.add(part);
      if (this.#missing > 0) continue;
      this.#missing = undefined;
      yield this.#received.take();
    }
  }

  /** Reads a header as far as it is there, and returns what follows. */
  #readHeader(piece: Buffer): Buffer {
    const before = this.#header.length;
    this.#header += piece.toString("latin1", 0, HEADER_BYTES);
    const end = this.#header.indexOf(END_OF_HEADER);
    if (end < 0 && this.#header.length < HEADER_BYTES) return piece.subarray(piece.length);
    const fields = end < 0 ? [] : this.#header.slice(0, end).split("\r\n");
    const lengths = fields.flatMap(
      (field) => /^content-length: *(\d{1,15})$/i.exec(field)?.[1] ?? [],
    );
    if (lengths.length !== 1) {
      throw new Error(
        `reading the header of a message: found ${JSON.stringify(this.#header.slice(0, 100))}; expected one Content-Length`,
      );
    }
    this.#missing = Number(lengths[0]);
    this.#header = "";
    return piece.subarray(end + END_OF_HEADER.length - before);
  }
}
