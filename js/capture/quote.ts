// Text from outside (a guest's path, a file name), fit for a message.

import { escapeUnprintable } from "../text.js";

/** Longer texts are cut in messages: a guest may have chosen them. */
const MAX_SHOWN_LENGTH = 200;

/** The text in quotes, cut if it is very long, and with all unprintable characters escaped. */
export function quote(text: string): string {
  const shown = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
  return escapeUnprintable(JSON.stringify(shown));
}
