/** Which warnings keep a check from deciding. */
import type { Warning, WarningCode } from "../../index.js";

/**
 * Warnings that do not touch numbers. The last six are about programs of C, C++, Rust and Zig: their blocks and sizes are
 * exact, and what is uncertain of references, roots and types is so in every dump alike.
 */
const HARMLESS: readonly WarningCode[] = [
  "WARN_NAMES_MISSING",
  "WARN_NAMES_INCOMPLETE",
  "WARN_IDS_RENUMBERED",
  "WARN_GROWTH_NOT_CHECKED",
  "WARN_CONSERVATIVE",
  "WARN_STACK_BOUNDS_GUESSED",
  "WARN_HOST_ROOTS_UNKNOWN",
  "WARN_TYPE_GUESSED",
  "WARN_TYPE_CONFLICT",
  "WARN_NO_ALLOCATOR",
];

/** Why numbers may be wrong: the codes of warnings, each once. Empty if the check can decide. */
export function inconclusive(warnings: readonly Warning[]): WarningCode[] {
  const codes = warnings.map(({ code }) => code);
  return [...new Set(codes.filter((code) => !HARMLESS.includes(code)))];
}
