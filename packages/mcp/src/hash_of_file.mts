/** The hash of a file. */
import { createHash } from "node:crypto";
import { readFrom } from "./roots.mts";

const PIECE = 1 << 20;

/** The SHA-256 of an open file. The next piece is read while one is hashed. */
export async function hashOfFile(descriptor: number, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const buffers = [Buffer.allocUnsafe(PIECE), Buffer.allocUnsafe(PIECE)] as const;
  let position = 0;
  const piece = (nth: number) =>
    readFrom(descriptor, buffers[nth % 2 === 0 ? 0 : 1], 0, PIECE, position);
  let next = piece(0);
  try {
    for (let nth = 1; ; nth++) {
      signal.throwIfAborted();
      const { buffer, bytesRead } = await next;
      if (bytesRead === 0) return hash.digest("hex");
      position += bytesRead;
      next = piece(nth);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    // The descriptor is closed next.
    await next.catch(() => {});
  }
}
