// Parses JSON within bounds. `JSON.parse` alone takes 30 times the memory of a message of empty objects, blocks for
// minutes, and ends the process if a message nests deeply. So the bytes are counted first.

import { answerError, type UncheckedAnswer } from "./answer.js";

/** What a message may have. */
export interface MessageBounds {
  bytes: number;
  /** Values, and names of properties. */
  nodes: number;
  depth: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** `[` and `{`, `]` and `}`: they differ in one bit. */
const OPENS = 0x5b;
const CLOSES = 0x5d;
const BRACE = 0x20;

/**
 * The value of a message.
 *
 * @throws {HeapAnalyzerError} `ERR_ATTACH_ANSWER` if it is no JSON, or more than the bounds allow.
 */
export function parseWithin(
  bytes: Uint8Array,
  what: string,
  bounds: MessageBounds,
): UncheckedAnswer {
  check(bytes, what, bounds);
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch {
    throw answerError(what, "sent a message that is not JSON");
  }
}

/** Counts, and looks at each byte once. What is no JSON may be counted wrongly: it is refused later, and is no deeper. */
function check(bytes: Uint8Array, what: string, { bytes: size, nodes, depth }: MessageBounds) {
  if (bytes.length > size) throw answerError(what, `sent more than ${size} bytes`);
  let [found, level, isText] = [1, 0, false];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
      continue;
    }
    if (byte === QUOTE) isText = true;
    else if (byte === COMMA || byte === COLON) found++;
    else if ((byte & ~BRACE) === OPENS) {
      found++;
      if (++level > depth) throw answerError(what, `sent a message deeper than ${depth}`);
    } else if ((byte & ~BRACE) === CLOSES) level--;
    if (found > nodes) throw answerError(what, `sent a message of more than ${nodes} values`);
  }
}
