/** The rules of a check, in words. */

import type { CheckedRule } from "../../index.js";
import { formatCount, formatSize } from "../units.js";
import { shown } from "./findings.js";

/**
 * The requirement of a rule.
 *
 * @param name writes the glob that it is about.
 */
export function ruleTitle(
  { rule, limit }: CheckedRule,
  name: (text: string) => string = shown,
): string {
  const { kind, glob } = split(rule);
  switch (kind) {
    case "default":
      return "nothing grows";
    case "no-growth":
      return `no more ${name(glob)} at the end than at the start`;
    case "max-growth":
      return `the live size grows by at most ${formatSize(limit)}`;
    case "max-live":
      return `the live size is at most ${formatSize(limit)}`;
    case "max":
      return `at most ${formatCount(limit)} objects of ${name(glob)}`;
    default:
      return name(rule);
  }
}

/** The value that was found. */
export function ruleState({ rule, actual }: CheckedRule): string {
  switch (split(rule).kind) {
    case "default":
      return actual === 1 ? "1 place grows" : `${formatCount(actual)} places grow`;
    case "no-growth":
      if (actual === 0) return "found as many";
      return `found ${formatCount(Math.abs(actual))} ${actual > 0 ? "more" : "fewer"}`;
    case "max":
      return `found ${formatCount(actual)}`;
    default:
      return `found ${actual < 0 ? "−" : ""}${formatSize(Math.abs(actual))}`;
  }
}

/** Whether a rule is the one that nothing grows. The others are budgets: what grows may be why they are broken. */
export function isAboutGrowth(rule: CheckedRule): boolean {
  return ruleKind(rule) === "growth";
}

/** The kind of a rule, without the class that it is about: `max-growth`; `growth` for the default rule. */
export function ruleKind({ rule }: CheckedRule): string {
  const { kind } = split(rule);
  return kind === "default" ? "growth" : kind;
}

function split(rule: string): { kind: string; glob: string } {
  const [kind = ""] = rule.split(" ", 1);
  return { kind, glob: rule.slice(kind.length + 1) };
}
