/** The findings of a check, in the words of all reports. */

import type { CheckAnswer, CheckedRule, GrowingSite } from "../../index.js";
import { escapeUnprintable } from "../text.js";
import { formatCount, formatSize } from "../units.js";

/** A broken rule, and the growing places that it is about. */
export interface Finding {
  rule: CheckedRule;
  sites: GrowingSite[];
}

/** The separator of the steps in the text of a path. */
const SEPARATOR = " > ";

/** Longer names are shortened in reports; the JSON has the complete names. */
const LONGEST_NAME = 400;

/** The broken rules of an answer in their order. */
export function findings({ rules, sites }: CheckAnswer): Finding[] {
  const byFingerprint = new Map(sites.map((site) => [site.fingerprint, site]));
  const broken = rules.filter(({ passed }) => !passed);
  return broken.map((rule) => {
    const found = rule.sites.map((fingerprint) => byFingerprint.get(fingerprint));
    return { rule, sites: found.filter((site) => site !== undefined) };
  });
}

/** The growing sites of all broken rules, each once. */
export function brokenSites(answer: CheckAnswer): GrowingSite[] {
  return [...new Set(findings(answer).flatMap(({ sites }) => sites))];
}

/** How the check ended, as a sentence. */
export function verdict({ passed, rules }: CheckAnswer): string {
  const all = `${formatCount(rules.length)} ${rules.length === 1 ? "rule" : "rules"}`;
  if (passed) return `${all} checked, none is broken`;
  const broken = rules.filter(({ passed }) => !passed).length;
  return `${formatCount(broken)} of ${all} ${broken === 1 ? "is" : "are"} broken`;
}

/**
 * How fast a site grows.
 *
 * @param name writes the name of a class.
 * @param interval the name of the time between two measurements.
 */
export function growth(
  { className, perInterval }: GrowingSite,
  name: (text: string) => string = shown,
  interval = "interval",
): string {
  const size = formatSize(Math.abs(perInterval.bytes));
  return perInterval.count > 0
    ? `${formatCount(perInterval.count)} more ${name(className)} per ${interval} (${size})`
    : `${name(className)}: the same objects have ${size} more per ${interval}`;
}

/** A series of measurements, the middle of a long one left out. */
export function series(numbers: readonly (number | null)[], format: (n: number) => string): string {
  const all = numbers.map((number) => (number === null ? "–" : format(number)));
  const listed = all.length > 12 ? [...all.slice(0, 6), "…", ...all.slice(-5)] : all;
  return listed.join(" → ");
}

/** The way from the root to the growing objects, one reference a step; the last step is their class. */
export function steps({
  path,
  label,
  className,
}: Pick<GrowingSite, "path" | "label" | "className">): string[] {
  if (path !== null) return path.split(SEPARATOR).map(shown);
  return label === null ? [shown(className)] : [shown(label), shown(className)];
}

/** A name from the module or the dump: one line, without anything invisible, and not very long. */
export function shown(name: string): string {
  return escapeUnprintable(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
}
