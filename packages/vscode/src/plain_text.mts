/** Text from outside in the editor's messages. */
import { escapeUnprintable } from "../../../js/text.ts";

const MOST_CHARACTERS = 300;

/** A text of a heap or a program for a message. The editor would make a link of `[text](command:…)`, which runs commands. */
export function plainText(text: string): string {
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return escapeUnprintable(short).replaceAll("](", "] (");
}
