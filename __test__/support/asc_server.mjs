/** A process that compiles for all test files: `asc` becomes several times faster once it has compiled some programs. */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import { runAsc } from "./asc.mjs";

/** The program before. `asc` keeps state between its steps, so one at a time is compiled. */
let before = Promise.resolve();

const server = createServer(async (request, response) => {
  const wanted = deserialize(await buffer(request));
  before = before
    .then(() => runAsc(wanted))
    .catch((error) => ({ error: String(error), stderr: "", files: new Map() }))
    .then((result) => {
      // A connection that stays open may be closed while a program compiles, just when a client uses it again.
      response.setHeader("connection", "close").end(serialize(result));
    });
});
server.listen(0, "127.0.0.1", () => {
  process.send(`http://127.0.0.1:${server.address().port}`);
});
process.on("disconnect", () => process.exit());
