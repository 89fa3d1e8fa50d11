/** A check as Markdown, for a summary or a comment: less than 1 MiB, which is the most that GitHub shows. */

import type { CheckAnswer, CheckedRule, GrowingPlace } from "../../index.js";
import { formatCount, formatSize } from "../units.js";
import { brokenPlaces, growth, series, shown, steps, verdict } from "./findings.js";
import { ruleState, ruleTitle } from "./rules.js";

/** The size of all entries together. The rest of 1 MiB is for headings, and for the note about entries that are left out. */
const MOST = (1 << 20) - 8192;

/** The document in pieces. */
export function* markdown(answer: CheckAnswer): Generator<string> {
  const room = new DocumentRoom(MOST);
  yield `## ${sign(answer.passed)} Heap check: ${verdict(answer)}\n`;
  yield* room.section("Rules", answer.rules, ruleItem);
  yield* room.section("Growing places", brokenPlaces(answer), placeItem);
  yield* room.section("Accepted by the baseline", answer.accepted, item);
  yield* room.section("In the baseline, but gone: remove them there", answer.gone, item);
  yield* room.section("Warnings", answer.warnings, ({ message }) => item(message));
}

/** Counts the bytes that are left for the document. */
class DocumentRoom {
  #left: number;

  constructor(size: number) {
    this.#left = size;
  }

  /** A heading and the entries, as long as there is room for them; nothing if there are no entries. */
  *section<T>(title: string, entries: readonly T[], write: (entry: T) => string) {
    if (entries.length > 0) yield `\n### ${title}\n\n`;
    for (const [nth, entry] of entries.entries()) {
      const text = write(entry);
      this.#left -= Buffer.byteLength(text);
      if (this.#left < 0) {
        const left = formatCount(entries.length - nth);
        yield `\n${left} of ${formatCount(entries.length)} are left out.\n`;
        return;
      }
      yield text;
    }
  }
}

function ruleItem(rule: CheckedRule): string {
  return `- ${sign(rule.passed)} ${ruleTitle(rule, code)}: ${ruleState(rule)}\n`;
}

function placeItem(place: GrowingPlace): string {
  const path = steps(place).map(code).join(" › ");
  const objects = series(place.counts, formatCount);
  const bytes = series(place.bytes, formatSize);
  return (
    `- **${growth(place, code)}**\n` +
    `  - path: ${path}\n` +
    `  - objects: ${objects}\n` +
    `  - bytes: ${bytes}\n` +
    `  - fingerprint: ${code(place.fingerprint)}\n`
  );
}

function item(text: string): string {
  return `- ${code(text)}\n`;
}

function sign(passed: boolean): string {
  return passed ? "✅" : "❌";
}

/** A text that Markdown leaves as it is: no markup, no link, no mention. */
function code(text: string): string {
  const line = shown(text);
  const runs = line.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  // A reader takes off a space at both ends. It keeps backticks apart from the fence.
  const edge = /^[` ]|[` ]$/.test(line) ? " " : "";
  return fence + edge + line + edge + fence;
}
