/**
 * A check as JUnit XML, for the test views of CI servers: one test case for each rule, so that the names
 * of the tests stay the same from run to run. Its failure names the places that break the rule.
 */
import type { CheckAnswer } from "../../index.js";
import { findings, growth, steps, verdict } from "./findings.js";
import { ruleKind, ruleState, ruleTitle } from "./rules.js";

const SUITE = "warpo-heap-analyzer check";

/**
 * The document in pieces.
 *
 * @param seconds how long the check took. All rules are decided together, so a rule alone has no time.
 */
export function* junit(answer: CheckAnswer, seconds: number): Generator<string> {
  const { rules } = answer;
  const failures = rules.filter(({ passed }) => !passed).length;
  const totals = `tests="${rules.length}" failures="${failures}" errors="0"`;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n`;
  yield `<testsuites name="${SUITE}" ${totals} time="${seconds.toFixed(3)}">\n`;
  yield `  <testsuite name="${SUITE}" ${totals} skipped="0" time="${seconds.toFixed(3)}">\n`;
  const broken = new Map(findings(answer).map(({ rule, places }) => [rule, places]));
  for (const rule of rules) {
    const kind = escapeXml(ruleKind(rule));
    yield `    <testcase classname="${kind}" name="${escapeXml(ruleTitle(rule))}"`;
    const places = broken.get(rule);
    if (places === undefined) {
      yield "/>\n";
      continue;
    }
    yield `>\n      <failure type="${kind}" message="${escapeXml(ruleState(rule))}">`;
    for (const place of places) {
      const lines = [growth(place), ...steps(place).map((step) => `  ${step}`)];
      yield escapeXml(`${lines.join("\n")}\nfingerprint ${place.fingerprint}\n`);
    }
    yield "</failure>\n    </testcase>\n";
  }
  yield `    <system-out>${escapeXml(`${verdict(answer)}\n${baselineLines(answer)}`)}</system-out>\n`;
  yield "  </testsuite>\n</testsuites>\n";
}

function baselineLines({ accepted, gone }: CheckAnswer): string {
  const lines = [];
  if (accepted.length > 0) lines.push(`accepted by the baseline: ${accepted.join(", ")}\n`);
  if (gone.length > 0) lines.push(`in the baseline, but gone: ${gone.join(", ")}\n`);
  return lines.join("");
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** A text without control characters, as text of an element or as value of an attribute. */
function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
