// A file into which the target writes its memory. The target neither names nor creates it, and nothing that it does with
// the name, such as to put a link there, leads this process elsewhere: only the descriptor of the file that was created
// here is read. The target may keep the file open, so what it wrote is copied.

import {
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  read,
  rmSync,
  write,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { answerError } from "../inspector/answer.js";
import type { Session } from "../inspector/calls.js";
import { resolveSymlinks } from "../whole_file.js";
import { removeOpen } from "./output.js";
import { unfinished } from "./unfinished.js";

const PIECE = 4 * 1024 * 1024;
/** How much is written before it is flushed to the disk. To flush all at the end takes seconds, in which no abort is heard. */
const FLUSHED = 8 * PIECE;
const ZEROS = Buffer.alloc(PIECE);
const CREATE =
  constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

const readAt = promisify(read);
const writeAt = promisify(write);
const flush = promisify(fdatasync);

export class Exchange {
  readonly path: string;
  readonly #folder: string;
  readonly #descriptor: number;
  readonly #done: () => void;
  #seen = "";

  /** Creates the file in a folder that only this user can enter, in a folder of the disk of the dump. */
  constructor(folder: string) {
    this.#folder = mkdtempSync(join(resolveSymlinks(folder), ".warpo-heap-analyzer-"));
    this.#done = unfinished(() => this.#removeFolder());
    this.path = join(this.#folder, "memory");
    try {
      this.#descriptor = openSync(this.path, CREATE, 0o600);
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Whether something was written since the last call. */
  hasChanged(): boolean {
    const { size, mtimeMs } = fstatSync(this.#descriptor);
    const now = `${size} ${mtimeMs}`;
    const hasChanged = now !== this.#seen;
    this.#seen = now;
    return hasChanged;
  }

  /**
   * Copies what was written.
   *
   * @param size how many bytes there must be.
   * @param session when it ends, so does the copy.
   */
  async copyTo(descriptor: number, size: number, session: Session): Promise<void> {
    const found = fstatSync(this.#descriptor).size;
    if (found !== size) {
      throw answerError("the target", `wrote a file of ${found} bytes, expected ${size}`);
    }
    const piece = Buffer.allocUnsafe(PIECE);
    for (let at = 0; at < size; ) {
      session.check();
      const { bytesRead } = await readAt(this.#descriptor, piece, 0, PIECE, at);
      if (bytesRead === 0) throw answerError("the target", "made its file smaller");
      const isZero = piece.compare(ZEROS, 0, bytesRead, 0, bytesRead) === 0;
      if (at > 0 && at % FLUSHED === 0) await session.unlessEnded(flush(descriptor));
      // What is not written is zero, and takes no room on the disk.
      for (let done = 0; !isZero && done < bytesRead; ) {
        done += (await writeAt(descriptor, piece, done, bytesRead - done, at + done)).bytesWritten;
      }
      at += bytesRead;
    }
    ftruncateSync(descriptor, size);
  }

  /** Removes the file. */
  remove(): void {
    const remove = () => this.#removeFolder();
    if (this.#descriptor === undefined) remove();
    else removeOpen(this.#descriptor, remove);
    this.#done();
  }

  #removeFolder(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
