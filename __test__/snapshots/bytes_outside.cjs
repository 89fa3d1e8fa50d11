// Loaded before a program: Node 26 keeps sessions of its inspector outside of V8's heap, and counts their bytes.
const { Session } = require("node:inspector");

globalThis.sessions = Array.from({ length: 50 }, () => new Session());
for (const session of globalThis.sessions) session.connect();
