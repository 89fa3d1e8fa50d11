/** The bytes of an export, piece by piece. */
import type * as native from "../native.js";
import { mebibytes, percent } from "./progress.js";

/** The bytes of an export. Two buffers take turns: a piece is overwritten after the next one was read. */
export class Pieces implements AsyncIterable<Buffer> {
  readonly #exported: native.ExportHandle;
  readonly #control: native.WorkControl;
  #bytes = 0;

  constructor(exported: native.ExportHandle, control: native.WorkControl) {
    this.#exported = exported;
    this.#control = control;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    let [buffer, other] = [Buffer.alloc(0), Buffer.alloc(0)];
    try {
      for (;;) {
        const length = await this.#exported.wait(this.#control);
        if (length === 0) return;
        if (buffer.length < length) buffer = Buffer.allocUnsafeSlow(length);
        this.#exported.take(buffer);
        this.#bytes += length;
        yield buffer.subarray(0, length);
        [buffer, other] = [other, buffer];
      }
    } finally {
      this.#control.cancel();
      this.#exported.close();
    }
  }

  progress(): string {
    return `writing: ${percent(this.#control.progress().fraction)}, ${mebibytes(this.#bytes)}`;
  }
}
