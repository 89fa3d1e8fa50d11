/** Takes messages of a client: reads their JSON, refuses what is no message, and counts requests. */

import { LONGEST_ERROR, MESSAGE_BYTES, MOST_WAITING } from "../../../js/served/limits.ts";
import { type ReceivedText, TOO_LONG } from "../../../js/served/received.ts";
import type { RequestId, Waiting } from "./waiting.mts";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
/** The code for a request that can be sent again later. */
const BUSY = -32000;

/** An answer that says why a message was not taken. */
export interface RefusedMessage {
  jsonrpc: "2.0";
  id?: RequestId | null;
  error: { code: number; message: string };
}

/** What differs between protocols. */
export interface Protocol<M> {
  /** Whether an error that belongs to no request has the id null, or none. */
  hasNullId: boolean;
  /** The notification that cancels a request, and the parameter with its id. */
  cancel: { method: string; id: string };
  /** Whether a cancelled request is answered. */
  answersCancelled: boolean;
  /** A value as a message. Fails if it is none. */
  parse(value: unknown): M;
  /** Whether notifications of this method are of use. */
  isNotification(method: string): boolean;
}

export class Intake<M extends object> {
  readonly #protocol: Protocol<M>;
  readonly #waiting: Waiting;
  readonly #deliver: (message: M) => void;
  readonly #refuse: (refusal: RefusedMessage) => void;

  constructor(
    protocol: Protocol<M>,
    waiting: Waiting,
    deliver: (message: M) => void,
    refuse: (refusal: RefusedMessage) => void,
  ) {
    this.#protocol = protocol;
    this.#waiting = waiting;
    this.#deliver = deliver;
    this.#refuse = refuse;
  }

  receive(frame: ReceivedText): void {
    if (frame === TOO_LONG) {
      const limit = `a message has at most ${MESSAGE_BYTES} bytes`;
      this.#fail(INVALID_REQUEST, `Invalid request: ${limit}`);
      return;
    }
    const text = frame.trim();
    const message = text === "" ? undefined : this.#read(text);
    if (message !== undefined && this.#admits(message)) this.#deliver(message);
  }

  /** A text as a message, if it is one. */
  #read(text: string): M | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#fail(PARSE_ERROR, "Parse error: a message is not JSON");
      return undefined;
    }
    try {
      return this.#protocol.parse(value);
    } catch {
      const { id } = Object(value) as { id?: unknown };
      const found = "Invalid request: a message is not one of JSON-RPC 2.0";
      this.#fail(INVALID_REQUEST, found, isId(id) ? id : undefined);
      return undefined;
    }
  }

  /** Whether a message goes on. Counts requests, and answers those that do not. */
  #admits(message: object): boolean {
    const { method, id, params } = message as { method?: string; id?: RequestId; params?: unknown };
    if (method === undefined) return true;
    const { cancel, answersCancelled, isNotification } = this.#protocol;
    if (id === undefined) {
      if (method !== cancel.method) return isNotification(method);
      const cancelled = (Object(params) as Record<string, unknown>)[cancel.id];
      return isId(cancelled) && this.#waiting.cancelled(cancelled, answersCancelled);
    }
    const result = this.#waiting.enter(id);
    if (result === "in use") {
      this.#fail(INVALID_REQUEST, "Invalid request: its id is in use", id);
    } else if (result === "too many") {
      this.#fail(BUSY, `Busy: ${MOST_WAITING} requests wait for their answers`, id);
    }
    return result === "taken";
  }

  #fail(code: number, message: string, id?: RequestId): void {
    const named = id !== undefined ? { id } : this.#protocol.hasNullId ? { id: null } : {};
    this.#refuse({ jsonrpc: "2.0", ...named, error: { code, message } });
  }
}

/** Shortens the message of an error, which may repeat what a client sent. */
export function withShortError<T extends object>(message: T): T {
  const { error } = message as { error?: { message: string } };
  if (error === undefined || error.message.length <= LONGEST_ERROR) return message;
  return { ...message, error: { ...error, message: `${error.message.slice(0, LONGEST_ERROR)}…` } };
}

function isId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isSafeInteger(id);
}
