/** Which warnings keep a check from deciding. */
import type { Warning, WarningCode } from "../../index.js";

/** Warnings that do not touch numbers. */
const HARMLESS: readonly WarningCode[] = [
  "WARN_NAMES_MISSING",
  "WARN_NAMES_INCOMPLETE",
  "WARN_GROWTH_NOT_CHECKED",
];

/** Why numbers may be wrong: the codes of warnings, each once. Empty if the check can decide. */
export function inconclusive(warnings: readonly Warning[]): WarningCode[] {
  const codes = warnings.map(({ code }) => code);
  return [...new Set(codes.filter((code) => !HARMLESS.includes(code)))];
}
