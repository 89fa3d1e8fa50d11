/** A check as text for people: what `check` prints, and the message of a `LeakError`. */
import { formatCount, formatSize } from "../units.js";
import type { CheckAnswer, GrowingSite } from "./contract.js";
import { brokenSites, growth, series, shown, steps, verdict } from "./findings.js";
import { ruleState, ruleTitle } from "./rules.js";

/**
 * The lines of the report, each with its end.
 *
 * @param interval what lies between two measurements: "dump" or "round".
 */
export function* reportText(answer: CheckAnswer, interval: string): Generator<string> {
  yield `${verdict(answer)}\n`;
  for (const rule of answer.rules) {
    yield `  ${rule.passed ? "passed" : "BROKEN"}  ${ruleTitle(rule)}: ${ruleState(rule)}\n`;
  }
  let nth = 1;
  for (const site of brokenSites(answer)) yield `\n${nth++}. ${siteText(site, interval)}`;
  const { accepted, gone } = answer;
  if (accepted.length > 0) yield `\naccepted by the baseline: ${accepted.join(", ")}\n`;
  if (gone.length > 0) {
    yield `\nin the baseline, but gone; remove ${gone.length === 1 ? "it" : "them"} there: ${gone.map(shown).join(", ")}\n`;
  }
}

function siteText(site: GrowingSite, interval: string): string {
  const lines = [growth(site, interval), ...steps(site).map((step) => `     ${step}`)];
  lines.push(`   objects ${series(site.counts, formatCount)}`);
  lines.push(`   bytes   ${series(site.bytes, formatSize)}`);
  for (const { className, label, path, fingerprint, count } of site.folded) {
    const end = steps({ className, label, path }).slice(-2).join(" > ");
    lines.push(`   with it ${formatCount(count)} more at ${end}, ${fingerprint}`);
  }
  const unstable = site.stable ? "" : " (unstable: some names are not from the source)";
  lines.push(`   fingerprint ${site.fingerprint}${unstable}`);
  return lines.map((line) => `${line}\n`).join("");
}
