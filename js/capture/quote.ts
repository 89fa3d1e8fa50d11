// Makes text from outside (a guest's path, a file name) safe for a message.

import { escapeUnprintable } from "../text.js";

/** Longer texts are shortened in messages, because a guest may have chosen them. */
const MAX_SHOWN_LENGTH = 200;

/** The text in quotes, shortened if it is very long, with all unprintable characters escaped. */
export function quote(text: string): string {
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
  return escapeUnprintable(JSON.stringify(shown));
}
