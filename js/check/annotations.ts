/**
 * A check as annotations of GitHub Actions: lines that its runner shows next to the change. It shows at
 * most ten errors of a step, so there are no more than ten.
 */
import type { CheckAnswer } from "../../index.js";
import { escapeUnprintable } from "../text.js";
import { brokenPlaces, findings, growth, steps } from "./findings.js";
import { isAboutGrowth, ruleState, ruleTitle } from "./rules.js";
import { type CodePlace, codePlace } from "./source_place.js";

const MOST = 10;

/** The most characters of the last message, which names all others. */
const LONGEST = 4000;

interface Annotation {
  title: string;
  message: string;
  /** The line that it is about, in place of the module. */
  code?: CodePlace | undefined;
}

/**
 * The lines, each with its end.
 *
 * @param file the module, as a path from the root of the repository.
 */
export function* githubAnnotations(answer: CheckAnswer, file: string): Generator<string> {
  const all = [...annotations(answer)];
  const left = all.length > MOST ? all.splice(MOST - 1) : [];
  for (const annotation of all) yield line(file, annotation);
  if (left.length > 0) {
    const titles = left.map(({ title }) => title).join("\n");
    yield line(file, { title: `${left.length} more`, message: titles.slice(0, LONGEST) });
  }
}

function* annotations(answer: CheckAnswer): Generator<Annotation> {
  for (const { rule } of findings(answer)) {
    if (isAboutGrowth(rule)) continue;
    yield { title: `broken: ${ruleTitle(rule)}`, message: ruleState(rule) };
  }
  for (const place of brokenPlaces(answer)) {
    const message = `${steps(place).join("\n")}\nfingerprint ${place.fingerprint}`;
    yield { title: `leak: ${growth(place)}`, message, code: codePlace(place) };
  }
}

function line(module: string, { title, message, code }: Annotation): string {
  const file = property(code?.file ?? module);
  const at = code === undefined ? "" : `,line=${code.line},col=${code.column}`;
  return `::error title=${property(title)},file=${file}${at}::${data(message)}\n`;
}

/** The text of a command, as the runner reads it back. Names of the program cannot control the terminal of its log. */
function data(text: string): string {
  const lines = text.split("\n").map(escapeUnprintable);
  return lines.join("\n").replaceAll("%", "%25").replaceAll("\n", "%0A");
}

/** The value of a property: it also ends at a comma, and a command's properties at a colon. */
function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
