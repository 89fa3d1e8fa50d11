/** Comparison of secrets. */
import { createHash, timingSafeEqual } from "node:crypto";

/** Compares in a time that does not depend on where the texts differ, nor on whether their lengths do. */
export function isSame(given: string, secret: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}
