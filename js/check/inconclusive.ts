/** Which warnings keep a check from deciding. */
import type { Warning, WarningCode } from "../../index.js";

/** Warnings that do not touch numbers. */
const ABOUT_NAMES: readonly WarningCode[] = ["WARN_NAMES_MISSING", "WARN_NAMES_INCOMPLETE"];

/** Why numbers may be wrong: the codes of warnings, each once. Empty if the check can decide. */
export function inconclusive(warnings: readonly Warning[]): WarningCode[] {
  const codes = warnings.map(({ code }) => code);
  return [...new Set(codes.filter((code) => !ABOUT_NAMES.includes(code)))];
}
