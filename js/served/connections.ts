/**
 * The connections of an HTTP server. One that has shown the token stays; any other is one of few, for a short time, and
 * the oldest makes room for a new one. So programs without the token lock nobody out.
 */
import type { Socket } from "node:net";
import { MOST_CONNECTIONS, MOST_UNKNOWN, UNKNOWN_TIME } from "./limits.js";

export class Connections {
  readonly #known = new Set<Socket>();
  /** The oldest first, each with the timer that ends it. */
  readonly #unknown = new Map<Socket, NodeJS.Timeout>();

  /** Takes a new connection. */
  admit(socket: Socket): void {
    const [oldest] = this.#unknown.keys();
    if (oldest !== undefined && this.#unknown.size >= MOST_UNKNOWN) oldest.destroy();
    this.#unknown.set(socket, setTimeout(() => socket.destroy(), UNKNOWN_TIME).unref());
    socket.once("close", () => {
      this.#forget(socket);
      this.#known.delete(socket);
    });
    if (oldest?.destroyed) this.#forget(oldest);
  }

  /** Keeps a connection that has shown the token. False if too many have. */
  keep(socket: Socket): boolean {
    if (this.#known.has(socket)) return true;
    if (this.#known.size >= MOST_CONNECTIONS) return false;
    this.#forget(socket);
    this.#known.add(socket);
    return true;
  }

  #forget(socket: Socket): void {
    clearTimeout(this.#unknown.get(socket));
    this.#unknown.delete(socket);
  }
}
