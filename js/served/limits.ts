/** What a client can make the server hold. The same on every transport. */

/** Bytes of a message. A request is small: paths, handles, names. */
export const MESSAGE_BYTES = 256 * 1024;
/** Requests that wait for their answers. Cancelled ones count until their work has ended. */
export const MOST_WAITING = 128;
/** Bytes that the client has not read. With more, no further message is taken. */
export const UNREAD_BYTES = 1024 * 1024;
/** Bytes that are read ahead of a client that does not read, to see whether it has ended. */
export const AHEAD_BYTES = 1024 * 1024;
/** Milliseconds after which a client that reads nothing, while it is behind, is gone: after its end, and before. */
export const ENDED_PATIENCE = 5000;
export const PATIENCE = 10 * 60 * 1000;
/** Characters of the answers together that are kept for repeated questions. */
export const KEPT_CHARACTERS = 16 * 1024 * 1024;
/** Clients of one HTTP server. Browsers open at most six connections to one server, and each client keeps one. */
export const MOST_CLIENTS = 4;
/** Connections to the HTTP server that have shown its token. */
export const MOST_CONNECTIONS = 64;
/** Connections that have not shown it yet, and for how many milliseconds each may stay. */
export const MOST_UNKNOWN = 64;
export const UNKNOWN_TIME = 5000;
/** Characters of an error's message. */
export const LONGEST_ERROR = 1000;
