/** Texts that somebody else chose (a guest, a module, a file name), made fit for a message. */

/**
 * A text with everything escaped that cannot be seen: it must neither break a line, nor give orders to
 * the terminal, nor turn the direction of what stands beside it.
 */
export function escapeUnprintable(text: string): string {
  return text.replace(
    // Not the joiners, which emoji and some scripts need.
    /(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => NAMED[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

const NAMED: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
