/** A program with sessions, a map of plates and the order in which they are made, for questions about fields. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { compileSource, UNOPTIMISED } from "./compile.ts";

const SOURCE = `
class Session {
  open: bool;
  tier: i32 = 2;
  note: string | null;
  constructor(public key: i32) {
    this.open = key % 3 != 0;
    this.note = key % 2 == 0 ? "guest " + (key % 4).toString() : null;
  }
}
class Plate { constructor(public key: i32) {} }
export const sessions: Array<Session> = [];
export const plates = new Map<i32, Plate>();
export const plateOrder: Array<i32> = [];
export function fill(): void {
  for (let i = 0; i < 300; i++) sessions.push(new Session(i));
  for (let i = 0; i < 300; i++) {
    plates.set(i, new Plate(i));
    if (i % 100 != 7) plateOrder.push(i);
  }
}
export function more(): void {
  for (let i = 300; i < 305; i++) sessions.push(new Session(i));
}
`;

/**
 * A new folder with `app.wasm` and `app.dump`: 100 of 300 sessions are not open, and plates 7, 107 and 207 have no order.
 * `later.dump` has five more sessions, of which two are not open.
 */
export async function sessionsFolder(): Promise<string> {
  const { wasm } = await compileSource("sessions", SOURCE, UNOPTIMISED);
  const { instance } = await WebAssembly.instantiate(exposeGlobals(wasm), { env: { abort() {} } });
  const program = instance.exports as WebAssembly.Exports & { fill(): void; more(): void };
  program.fill();
  const folder = mkdtempSync(join(tmpdir(), "sessions-"));
  writeFileSync(join(folder, "app.wasm"), wasm);
  writeFileSync(join(folder, "app.dump"), captureDump(program));
  program.more();
  writeFileSync(join(folder, "later.dump"), captureDump(program));
  return folder;
}
