/** The rules of a check, in words. */
import { formatCount, formatSize } from "../units.js";
import type { CheckRule } from "./contract.js";
import { shown } from "./findings.js";

/**
 * What a rule demands.
 *
 * @param name writes the glob that it is about.
 */
export function ruleTitle(
  { rule, limit }: CheckRule,
  name: (text: string) => string = shown,
): string {
  const [kind, glob = ""] = split(rule);
  switch (kind) {
    case "growth":
      return "no site grows";
    case "no-growth":
      return `no site of ${name(glob)} grows`;
    case "max-growth":
      return `the live size grows by at most ${size(limit)}`;
    case "max-live":
      return `the live size is at most ${size(limit)}`;
    case "max":
      return `there are at most ${formatCount(Number(limit))} objects of ${name(glob)}`;
    default:
      return name(rule);
  }
}

/** What was found. */
export function ruleState({ rule, actual, sites, passed }: CheckRule): string {
  const [kind] = split(rule);
  if (actual === null || kind === "growth" || kind === "no-growth") {
    if (passed) return "none does";
    return sites.length === 1 ? "1 site does" : `${formatCount(sites.length)} sites do`;
  }
  const found = kind === "max" ? formatCount(actual) : signedSize(actual);
  return `found ${found}`;
}

/** The kind of a rule, for reports that group by it: `max-growth`. */
export function ruleKind({ rule }: CheckRule): string {
  return split(rule)[0];
}

/** A rule is its kind, followed by the glob that it is about, if it is about one. */
function split(rule: string): [kind: string, glob?: string] {
  const [, kind, glob] = /^(\S*) ?(.*)$/s.exec(rule) as unknown as [string, string, string];
  return [kind, glob];
}

/** A limit: bytes, or a percentage as it was given. */
function size(limit: CheckRule["limit"]): string {
  return typeof limit === "number" ? formatSize(limit) : shown(String(limit));
}

function signedSize(bytes: number): string {
  return bytes < 0 ? `−${formatSize(-bytes)}` : formatSize(bytes);
}
