// How messages travel: over a WebSocket of this machine.

import { WebSocket } from "ws";
import { HeapAnalyzerError } from "../errors.js";
import { shown } from "../text.js";

/** A connection over which texts travel. */
export interface Transport {
  send(text: string): void;
  /** Ends the connection at once. */
  end(): void;
}

/** Who hears what arrives. */
export interface Hearing {
  message(bytes: Buffer): void;
  /** The connection has ended, because of the other side. */
  ended(reason: string): void;
}

/**
 * Opens a connection to an address that the caller checked.
 *
 * @param time how long that may take, in milliseconds.
 * @param mostBytes of a message.
 * @param begin called when it is open, before anything is heard.
 */
export function openSocket<T>(
  url: string,
  time: number,
  mostBytes: number,
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
        maxPayload: mostBytes,
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
    let hearing: Hearing | undefined;
    socket.once("open", () => {
      clearTimeout(timer);
      const begun = begin({
        send: (text) => socket.send(text),
        end: () => socket.terminate(),
      });
      hearing = begun.hearing;
      resolve(begun);
    });
    socket.on("message", (data) => hearing?.message(data as Buffer));
    socket.on("error", (error) => {
      clearTimeout(timer);
      if (hearing === undefined) fail(shown(error.message), "ERR_ATTACH_TARGET", error);
      else hearing.ended(`failed: ${shown(error.message)}`);
    });
    socket.on("close", () => hearing?.ended("was closed by the target"));
  });
}
