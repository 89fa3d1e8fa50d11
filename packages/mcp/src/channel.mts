/** The questions as methods of JSON-RPC 2.0, for one client, whatever carries its messages. */
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  ErrorCodes,
  type Message,
  type MessageWriter,
  ProgressType,
  ResponseError,
} from "vscode-jsonrpc/node";
import { errorText, isAborted, QuestionError } from "../../../js/served/errors.ts";
import type { ReceivedText } from "../../../js/served/received.ts";
import { Intake, type Protocol, withShortError } from "./intake.mts";
import { contextOf, type Served } from "./served.mts";
import { type RequestId, Waiting } from "./waiting.mts";

/** As in the Language Server Protocol. */
const REQUEST_CANCELLED = -32800;
const REQUEST_FAILED = -32803;
/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 100;

/** What a notification on the way has. */
type NotificationContent =
  | { kind: "progress"; fraction: number; phase: string }
  | { kind: "classes"; dump: string; classes: unknown[] };

const REPORTS = new ProgressType<NotificationContent>();

const CANCEL = "$/cancelRequest";

const PROTOCOL: Protocol<Message> = {
  hasNullId: true,
  cancel: { method: CANCEL, id: "id" },
  answersCancelled: true,
  // Answers are not checked further, because no request goes to a client.
  parse: message,
  // There is no other.
  isNotification: () => false,
};

/** A value as a request, a notification, or an answer. */
function message(value: unknown): Message {
  const { jsonrpc, id, method, params = {}, ...rest } = Object(value) as Record<string, unknown>;
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  const isRequest =
    typeof method === "string" &&
    (id === undefined || isId) &&
    typeof params === "object" &&
    params !== null &&
    Object.keys(rest).length === 0;
  const isAnswer = (isId || id === null) && Object.hasOwn(Object(value), "result");
  if (jsonrpc === "2.0" && (isRequest || isAnswer)) return value as Message;
  throw new TypeError("no message");
}

export class Channel {
  readonly #intake: Intake<Message>;
  readonly #ended = new AbortController();
  readonly #connection: { dispose(): void };

  /** `send` sends a message; a report may be left out if the client is behind. */
  constructor(served: Served, send: (message: object, isReport: boolean) => void) {
    const waiting = new Waiting();
    const reader = new Reader();
    const writer = new Writer((message) => {
      const { id, method } = message as { id?: RequestId | null; method?: string };
      if (id !== undefined && id !== null) waiting.answered(id);
      send(withShortError(message), method !== undefined);
    });
    const refuse = (refusal: object) => send(refusal, false);
    this.#intake = new Intake(PROTOCOL, waiting, (message) => reader.callback(message), refuse);
    this.#connection = connected(reader, writer, served, this.#ended.signal);
  }

  /** Takes a message of the client. */
  receive(frame: ReceivedText): void {
    if (!this.#ended.signal.aborted) this.#intake.receive(frame);
  }

  /** Ends all work for the client. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#connection.dispose();
  }
}

/** Answers requests. */
function connected(
  reader: Reader,
  writer: Writer,
  served: Served,
  ended: AbortSignal,
): { dispose(): void } {
  const { asked, asker } = served;
  const context = contextOf(served);
  const connection = createMessageConnection(reader, writer);
  connection.onRequest(async (method, params, cancellation) => {
    const question = asked.find(({ name }) => name === method);
    if (question === undefined) {
      const names = asked.map(({ name }) => name).join(", ");
      const message = `there is no method ${method.slice(0, 100)}: the methods are ${names}`;
      throw new ResponseError(ErrorCodes.MethodNotFound, message);
    }
    const { token, ...args } = Object(params ?? {}) as Record<string, unknown>;
    const stop = new AbortController();
    cancellation.onCancellationRequested(() => stop.abort());
    const signal = AbortSignal.any([stop.signal, ended]);
    const report = (value: NotificationContent) => {
      if (typeof token !== "string" && typeof token !== "number") return;
      // A client that went away is noticed elsewhere.
      connection.sendProgress(REPORTS, token, value).catch(() => {});
    };
    const control = {
      signal,
      progress: paced((fraction, phase) => report({ kind: "progress", fraction, phase })),
      classes: (dump: string, classes: unknown[]) => report({ kind: "classes", dump, classes }),
    };
    try {
      return (await asker.ask(question, args, { ...context, control })).structured;
    } catch (error) {
      throw responseError(error, signal.aborted);
    }
  });
  connection.listen();
  return connection;
}

/** Reports that do not come too often. */
function paced(report: (fraction: number, phase: string) => void): typeof report {
  let due = 0;
  return (fraction, phase) => {
    if (performance.now() < due) return;
    due = performance.now() + REPORT_INTERVAL;
    report(fraction, phase);
  };
}

function responseError(error: unknown, isCancelled: boolean): ResponseError<{ code: unknown }> {
  const { code } = error as { code?: unknown };
  const number =
    isCancelled || isAborted(error)
      ? REQUEST_CANCELLED
      : error instanceof QuestionError && code === "ERR_INVALID_ARGUMENTS"
        ? ErrorCodes.InvalidParams
        : REQUEST_FAILED;
  return new ResponseError(number, errorText(error, "agent"), { code });
}

/** Passes on what was taken. The reader of the package keeps whole messages of any size. */
class Reader extends AbstractMessageReader {
  callback: DataCallback = () => {};

  override listen(callback: DataCallback): Disposable {
    this.callback = callback;
    return { dispose: () => this.dispose() };
  }
}

/** Sends at once, and leaves out what may be. The writer of the package keeps all. */
class Writer extends AbstractMessageWriter implements MessageWriter {
  readonly #send: (message: Message) => void;

  constructor(send: (message: Message) => void) {
    super();
    this.#send = send;
  }

  async write(message: Message): Promise<void> {
    this.#send(message);
  }

  end(): void {}
}
