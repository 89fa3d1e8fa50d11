/** A running program that was not prepared, whose inspector can be attached to. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileProgram } from "./asc_program.ts";

const PROGRAM = join(import.meta.dirname, "../programs/attach/server.cjs");

/** Compiles the program into a folder, starts it, and waits until it runs. */
export async function inspectedProgram(
  folder: string,
  ...flags: string[]
): Promise<{ child: ChildProcess; url: string }> {
  const wasm = join(folder, "sessions.wasm");
  writeFileSync(wasm, (await compileProgram("attach/sessions", ...flags)).wasm);
  const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", PROGRAM, wasm]);
  const [text] = await once(child.stderr as NodeJS.ReadableStream, "data");
  const url = /ws:\/\/\S+/.exec(String(text))?.[0] as string;
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return { child, url };
}
