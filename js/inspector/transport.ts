// How messages travel: over a WebSocket of this machine.

import { WebSocket } from "ws";
import { HeapAnalyzerError } from "../errors.js";
import { shown } from "../text.js";

/** A connection over which texts travel. */
export interface Transport {
  send(text: string): void;
  /** Ends the connection. Resolves when the other side has ended it too, or after a short time. */
  end(): Promise<void>;
}

/** Who hears what arrives. */
export interface Hearing {
  message(bytes: Buffer): void;
  /** The connection has ended, because of the other side. */
  ended(reason: string): void;
}

/** What opening a connection is bounded by. */
export interface OpeningBounds {
  /** How long it may take, in milliseconds. */
  time: number;
  /** Of a message. */
  bytes: number;
  signal?: AbortSignal | undefined;
}

/** How long the other side may take to end a connection after it was told to, in milliseconds. */
const TIME_TO_END = 500;

/**
 * Opens a connection to an address that the caller checked.
 *
 * @param begin called when it is open, before anything is heard.
 * @throws what `aborted` returns, if the signal aborts.
 */
export function openSocket<T>(
  url: string,
  { time, bytes, signal }: OpeningBounds,
  aborted: () => Error,
  begin: (transport: Transport) => T & { hearing: Hearing },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (
      reason: unknown,
      code: "ERR_ATTACH_TARGET" | "ERR_ATTACH_TIMEOUT",
      cause?: unknown,
    ) => reject(new HeapAnalyzerError(code, `cannot connect to ${url}: ${reason}`, { cause }));
    let socket: WebSocket;
    try {
      socket = new WebSocket(url, {
        followRedirects: false,
        maxPayload: bytes,
        perMessageDeflate: false,
        // Answers to pings that are not read would pile up. No inspector sends pings.
        autoPong: false,
      });
    } catch (error) {
      return fail(shown((error as Error).message), "ERR_ATTACH_TARGET", error);
    }
    // The time limit of the package begins anew with each byte that arrives.
    const timer = setTimeout(() => {
      fail(`it took more than ${time} ms`, "ERR_ATTACH_TIMEOUT");
      socket.terminate();
    }, time);
    const abort = () => {
      reject(aborted());
      socket.terminate();
    };
    signal?.addEventListener("abort", abort, { once: true });
    const hasOpened = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    let hearing: Hearing | undefined;
    socket.once("open", () => {
      hasOpened();
      const begun = begin({
        send: (text) => socket.send(text),
        end: () => ended(socket),
      });
      hearing = begun.hearing;
      resolve(begun);
    });
    socket.on("message", (data) => hearing?.message(data as Buffer));
    socket.on("error", (error) => {
      hasOpened();
      if (hearing === undefined) fail(shown(error.message), "ERR_ATTACH_TARGET", error);
      else hearing.ended(`failed: ${shown(error.message)}`);
    });
    socket.on("close", () => hearing?.ended("was closed by the target"));
  });
}

/**
 * Ends a connection. The other side is told first, and ends it: Node 20 sometimes crashes if the connection breaks while
 * it writes an answer.
 */
async function ended(socket: WebSocket): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return;
  const timer = setTimeout(() => socket.terminate(), TIME_TO_END);
  await new Promise((resolve) => {
    socket.once("close", resolve);
    socket.close();
  });
  clearTimeout(timer);
}
