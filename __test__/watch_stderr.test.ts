/** What `watch --command` passes on of a program's stderr. */
import { expect, test } from "vitest";
import { InspectorLines } from "../dist/watch/inspector_lines.js";

/** A filter, what came out of it so far, and the addresses that it found. */
function filter() {
  const lines = new InspectorLines();
  const passed: Buffer[] = [];
  const addresses: string[] = [];
  lines.on("data", (piece: Buffer) => passed.push(piece));
  lines.on("address", (address: string) => addresses.push(address));
  return { lines, addresses, text: () => Buffer.concat(passed).toString("latin1") };
}

/** Writes, and waits until it went through. */
const write = (lines: InspectorLines, text: string) =>
  new Promise<void>((resolve) => lines.write(Buffer.from(text, "latin1"), () => resolve()));

test("lines of Node about its inspector are left out, in whatever pieces they come; all others pass", async () => {
  const said =
    "Debugger listening on ws://127.0.0.1:1/abc\nFor help, see: https://nodejs.org\nDebug\n" +
    "Debugger attached.\na\n\nDebugger, he said\nDebugger ending on ws://x\n" +
    "Waiting for the debugger to disconnect...\nWaiting for the debugger, he said\n\xff\xfe no end";
  for (const size of [1, 2, 7, 1000]) {
    const { lines, addresses, text } = filter();
    for (let from = 0; from < said.length; from += size) {
      await write(lines, said.slice(from, from + size));
    }
    await new Promise<void>((resolve) => lines.end(resolve));
    expect(text()).toBe(
      "Debug\na\n\nDebugger, he said\nWaiting for the debugger, he said\n\xff\xfe no end",
    );
    expect(addresses).toEqual(["ws://127.0.0.1:1/abc"]);
  }
});

test("of a line without an end, nothing is kept, also if it begins like one of Node", async () => {
  for (const start of ["", "Debugger attached "]) {
    const { lines, text } = filter();
    await write(lines, start);
    for (let nth = 1; nth <= 64; nth++) {
      await write(lines, "x".repeat(65_536));
      await new Promise(setImmediate);
      expect(text().length).toBe(start.length + nth * 65_536);
    }
    lines.destroy();
  }
});

test("a reader that does not read stops the writer", async () => {
  const lines = new InspectorLines();
  let taken = 0;
  while (lines.write(Buffer.alloc(65_536, "x"))) expect(++taken).toBeLessThan(10);
  lines.destroy();
});
