// The calls of one session: each is settled by its answer, by the end of the connection, or by silence.

import { HeapAnalyzerError } from "../errors.js";
import { shown } from "../text.js";
import { answerError, at } from "./answer.js";
import type { MessageBounds } from "./bounded_json.js";
import {
  EVENTS,
  type Event,
  type Happened,
  type InspectorAnswer,
  type InspectorMethod,
  METHODS,
} from "./protocol.js";
import { Misfit, type Shape } from "./shape.js";

/**
 * A method for which the target stands still. Of most others the time is that of the connection: the system may hold back
 * a short answer for 40 ms.
 */
const STOPS = "Runtime.queryObjects";

/** The target answered that it does not do what was asked. */
export class Refused extends HeapAnalyzerError {}

/** What it means if an answer is late: that nothing else can be asked, or nothing, as of a call that may have to wait. */
export type Late = "is an end" | "is nothing";

/** Calls methods in one thread of the target, and hears its events. */
export interface Session {
  /** How long the target may be silent while an answer is awaited, in milliseconds. */
  readonly silence: number;
  /** Whether the time of the thread is counted as a whole, as that of a pause, and not by single calls. */
  isTimed: boolean;
  /** Counts milliseconds for which the thread stood still or was slow. */
  count(time: number): void;
  /** Calls a method. */
  call<M extends InspectorMethod>(
    method: M,
    parameters?: object,
    late?: Late,
  ): Promise<InspectorAnswer<M>>;
  /** Fails if the session has ended, so that work without calls ends too. */
  check(): void;
  /** Waits for work without calls, but not after the end of the session. */
  unlessEnded<T>(work: Promise<T>): Promise<T>;
  /** Calls `listener` with the parameters of each such event, until the function that it returns is called. */
  on<E extends Event>(event: E, listener: (happened: Happened<E>) => void): () => void;
  /** The target works on what is awaited, so it is not silent. */
  renew(): void;
  /** Ends the whole connection. */
  abandon(): void;
}

interface WaitingCall {
  method: InspectorMethod;
  start: number;
  resolve(answer: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** What the calls of a session need of the connection. */
export interface Line {
  /** Sends a message. */
  send(message: object): void;
  /** How long the target may be silent, in milliseconds. */
  silence: number;
  count(time: number): void;
  /** Messages that may have this much are awaited from now on, or no longer. */
  awaits(bounds: MessageBounds, isAwaited: boolean): void;
  /** The session was silent for too long. */
  isSilent(error: HeapAnalyzerError): void;
  abandon(): void;
}

/** Sends the calls of one session, and settles them. */
export class Calls implements Session {
  readonly #line: Line;
  isTimed = false;
  readonly #waiting = new Map<number, WaitingCall>();
  /** What to fail at the end, beside calls. */
  readonly #others = new Set<(error: Error) => void>();
  readonly #listeners = new Map<Event, ((parameters: never) => void)[]>();
  #last = 0;
  /** Why the session ended. */
  #ended: Error | undefined;

  constructor(line: Line) {
    this.#line = line;
  }

  get silence(): number {
    return this.#line.silence;
  }

  count(time: number): void {
    this.#line.count(time);
  }

  abandon(): void {
    this.#line.abandon();
  }

  check(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  async unlessEnded<T>(work: Promise<T>): Promise<T> {
    this.check();
    let fail: (error: Error) => void = () => {};
    const end = new Promise<never>((_, reject) => {
      fail = reject;
    });
    this.#others.add(fail);
    try {
      return await Promise.race([work, end]);
    } finally {
      this.#others.delete(fail);
    }
  }

  async call<M extends InspectorMethod>(
    method: M,
    parameters: object = {},
    late: Late = "is an end",
  ): Promise<InspectorAnswer<M>> {
    return await new Promise<InspectorAnswer<M>>((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      const id = ++this.#last;
      const timer = setTimeout(() => this.#tooLate(id, method, late), this.silence);
      const start = performance.now();
      const settle = resolve as (answer: unknown) => void;
      this.#waiting.set(id, { method, start, resolve: settle, reject, timer });
      this.#line.awaits(METHODS[method].bounds, true);
      this.#line.send({ id, method, params: parameters });
    });
  }

  #tooLate(id: number, method: InspectorMethod, late: Late): void {
    const error = new HeapAnalyzerError(
      "ERR_ATTACH_TIMEOUT",
      `the target did not answer ${method} within ${this.silence} ms`,
    );
    if (late === "is nothing") {
      this.#settled(id)?.reject(error);
      return;
    }
    this.end(error);
    this.#line.isSilent(error);
  }

  renew(): void {
    for (const { timer } of this.#waiting.values()) timer.refresh();
  }

  on<E extends Event>(event: E, listener: (happened: Happened<E>) => void): () => void {
    const others = () => (this.#listeners.get(event) ?? []).filter((other) => other !== listener);
    this.#listeners.set(event, [...others(), listener as (parameters: never) => void]);
    this.#line.awaits(EVENTS[event].bounds, true);
    return () => {
      this.#line.awaits(EVENTS[event].bounds, false);
      const left = others();
      if (left.length === 0) this.#listeners.delete(event);
      else this.#listeners.set(event, left);
    };
  }

  /** Takes a message of the target: an answer, or an event. Throws if an event is not as it should be. */
  receive(message: unknown): void {
    const id = at(message, "id");
    if (typeof id !== "number") {
      this.#happened(at(message, "method"), at(message, "params"));
      return;
    }
    const waiting = this.#settled(id);
    if (waiting === undefined) return;
    const { method, start, resolve, reject } = waiting;
    if (method === STOPS && !this.isTimed) this.count(performance.now() - start);
    try {
      resolve(answerOf(method, message));
    } catch (error) {
      reject(error as Error);
    }
  }

  /** What waited for an answer, and waits no longer. */
  #settled(id: number): WaitingCall | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    this.#line.awaits(METHODS[waiting.method].bounds, false);
    return waiting;
  }

  #happened(event: unknown, parameters: unknown): void {
    const listeners = this.#listeners.get(event as Event);
    if (listeners === undefined) return;
    const { shape } = EVENTS[event as Event];
    const read = fitting<unknown>(String(event), shape, parameters) as never;
    for (const listener of listeners) listener(read);
  }

  /** Fails everything that waits, and what is called later. */
  end(error: Error): void {
    this.#ended ??= error;
    for (const id of [...this.#waiting.keys()]) this.#settled(id)?.reject(error);
    for (const fail of this.#others) fail(error);
  }
}

function answerOf(method: InspectorMethod, message: unknown): unknown {
  const error = at(message, "error");
  if (error === undefined)
    return fitting<unknown>(method, METHODS[method].shape, at(message, "result"));
  const reason = shown(at(error, "message"));
  throw new Refused("ERR_ATTACH_ANSWER", `attach: ${method} refused it: ${reason}`);
}

/** A value of this shape. */
export function fitting<T>(what: string, shape: Shape<T>, value: unknown): T {
  try {
    return shape(value, "");
  } catch (error) {
    if (error instanceof Misfit) throw answerError(what, error.message);
    throw error;
  }
}
