/**
 * The questions as methods of JSON-RPC 2.0 with the headers of the Language Server Protocol: for extensions
 * of editors. Parameters are those of the tools. With `token`, notifications `$/progress` come on the way.
 */
import {
  createMessageConnection,
  ErrorCodes,
  ProgressType,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import type { Asker } from "./ask.mts";
import { errorText, isAborted, QuestionError } from "./errors.mts";
import type { Context, Question } from "./question.mts";

/** As in the Language Server Protocol. */
const REQUEST_CANCELLED = -32800;
const REQUEST_FAILED = -32803;
/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 100;

/** What a notification on the way has. */
type Report =
  | { kind: "progress"; fraction: number; phase: string }
  | { kind: "classes"; dump: string; classes: unknown[] };

const REPORTS = new ProgressType<Report>();

/** Serves until the client goes away. */
export async function serveJsonRpc(
  asked: Question[],
  asker: Asker,
  context: Omit<Context, "control">,
): Promise<void> {
  const reader = new StreamMessageReader(process.stdin);
  const connection = createMessageConnection(reader, new StreamMessageWriter(process.stdout));
  const ended = new AbortController();
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
    const signal = AbortSignal.any([stop.signal, ended.signal]);
    const report = (value: Report) => {
      if (typeof token !== "string" && typeof token !== "number") return;
      // A client that went away is noticed elsewhere.
      connection.sendProgress(REPORTS, token, value).catch(() => {});
    };
    let due = 0;
    const control = {
      signal,
      progress(fraction: number, phase: string) {
        if (performance.now() < due) return;
        due = performance.now() + REPORT_INTERVAL;
        report({ kind: "progress", fraction, phase });
      },
      classes: (dump: string, classes: unknown[]) => report({ kind: "classes", dump, classes }),
    };
    try {
      return (await asker.ask(question, args, { ...context, control })).structured;
    } catch (error) {
      throw responseError(error, signal.aborted);
    }
  });
  await new Promise<void>((resolve) => {
    const end = () => {
      ended.abort();
      connection.dispose();
      process.stdin.destroy();
      resolve();
    };
    connection.onClose(end);
    process.stdout.on("error", end);
    // After a broken header, the beginning of the next message is not known.
    connection.onError(([error]) => {
      process.stderr.write(`error: ${error.message.slice(0, 500)}\n`);
      process.exitCode = 1;
      end();
    });
    connection.listen();
  });
}

function responseError(error: unknown, isCancelled: boolean): ResponseError<{ code: unknown }> {
  const { code } = error as { code?: unknown };
  const number =
    isCancelled || isAborted(error)
      ? REQUEST_CANCELLED
      : error instanceof QuestionError && code === "ERR_INVALID_ARGUMENTS"
        ? ErrorCodes.InvalidParams
        : REQUEST_FAILED;
  return new ResponseError(number, errorText(error), { code });
}
