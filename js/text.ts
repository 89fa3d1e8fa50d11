/** Makes text from outside (a guest program, a module, a file name) safe for a message. */

/**
 * A text with everything invisible escaped. It then cannot break a line, control the terminal, change
 * the direction of the text beside it, or look like another text. The rules are those of
 * `printable_name` in `crates/outputs/src/formats/text.rs`.
 */
export function escapeUnprintable(text: string): string {
  if (PLAIN.test(text)) return text;
  let result = "";
  // Whether a joiner would join the last character to the next one.
  let canJoin = false;
  // Whether a selector would change the look of the last character.
  let canVary = false;
  for (const character of text) {
    const isVisible = !INVISIBLE.test(character);
    const isSelector = SELECTOR.test(character);
    const isKept: boolean = isVisible || (isSelector ? canVary : JOINER.test(character) && canJoin);
    result += isKept ? character : escaped(character);
    canVary = isVisible && !PLAIN.test(character);
    canJoin = canVary || (isKept && isSelector);
  }
  return result;
}

/** Characters of a value from outside that a message shows. */
const MOST_SHOWN = 300;

/**
 * Any value from outside as it stands in a message: short, on one line, a text in quotes. It calls nothing of the value,
 * which may have any properties.
 */
export function shown(value: unknown, most = MOST_SHOWN): string {
  if (typeof value === "string") {
    const short = value.length > most ? `${value.slice(0, most)}…` : value;
    return JSON.stringify(escapeUnprintable(short));
  }
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length} entries`;
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "symbol" || typeof value === "function" ? typeof value : `${value}`;
}

const PLAIN = /^[ -~]*$/;
/** Control, format and unassigned characters, blanks, and letters and symbols that are not visible. */
const INVISIBLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;
/** They choose the text or the emoji form of the symbol before them. */
const SELECTOR = /[\ufe0e\ufe0f]/;
/** Some scripts and emoji need them. */
const JOINER = /[\u200c\u200d]/;

const NAMED: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(character: string): string {
  return NAMED[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
