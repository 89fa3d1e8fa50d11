/** The findings of a check, in the words of all reports. */

import type { CheckAnswer, CheckedRule, GrowingPlace } from "../../index.js";
import { escapeUnprintable } from "../text.js";
import { formatCount, formatSize } from "../units.js";

/** A broken rule, and the growing places that it is about. */
export interface Finding {
  rule: CheckedRule;
  places: GrowingPlace[];
}

/** The separator of the steps in the text of a path. */
const SEPARATOR = " > ";

/** The class that stands for the stack. */
const STACK = "(stack)";

/** Longer names are shortened in reports; the JSON has the complete names. */
const LONGEST_NAME = 400;

/** Whether a growing place is the stack, of which a caller does not give back what it takes. */
export function isStack({ className }: Pick<GrowingPlace, "className">): boolean {
  return className === STACK;
}

/** The broken rules of an answer in their order. */
export function findings({ rules, places }: CheckAnswer): Finding[] {
  const byFingerprint = new Map(places.map((place) => [place.fingerprint, place]));
  const broken = rules.filter(({ passed }) => !passed);
  return broken.map((rule) => {
    const found = rule.places.map((fingerprint) => byFingerprint.get(fingerprint));
    return { rule, places: found.filter((place) => place !== undefined) };
  });
}

/** The growing places of all broken rules, each once. */
export function brokenPlaces(answer: CheckAnswer): GrowingPlace[] {
  return [...new Set(findings(answer).flatMap(({ places }) => places))];
}

/** How the check ended, as a sentence. */
export function verdict({ passed, rules }: CheckAnswer): string {
  const all = `${formatCount(rules.length)} ${rules.length === 1 ? "rule" : "rules"}`;
  if (passed) return `${all} checked, none is broken`;
  const broken = rules.filter(({ passed }) => !passed).length;
  return `${formatCount(broken)} of ${all} ${broken === 1 ? "is" : "are"} broken`;
}

/**
 * How fast a place grows.
 *
 * @param name writes the name of a class.
 * @param interval the name of the time between two measurements.
 */
export function growth(
  { className, perInterval }: GrowingPlace,
  name: (text: string) => string = shown,
  interval = "interval",
): string {
  const { count, bytes, retained } = perInterval;
  if (isStack({ className })) {
    return `the stack grows by ${formatCount(retained)} B per ${interval}: a caller takes stack and does not give it back`;
  }
  const size = formatSize(Math.abs(retained));
  const what = name(className);
  if (count > 0) {
    const less = retained < 0 ? " less" : "";
    return `${formatCount(count)} more ${what} per ${interval} (${size}${less} retained)`;
  }
  return retained > 0
    ? `${what}: as many objects as before retain ${size} more per ${interval}`
    : `${what}: as many objects as before have ${formatSize(bytes)} more of contents per ${interval}`;
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
}: Pick<GrowingPlace, "path" | "label" | "className">): string[] {
  if (path !== null) return path.split(SEPARATOR).map(shown);
  return label === null ? [shown(className)] : [shown(label), shown(className)];
}

/** A name from the module or the dump: one line, without anything invisible, and not very long. */
export function shown(name: string): string {
  return escapeUnprintable(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
}
