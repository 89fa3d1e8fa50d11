/** A running program with a large memory, and what can be aborted that attaches to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import type { Call } from "./abort_calls.js";

/** With 256 MiB of memory, a global and a function. */
const MODULE =
  "0061736d01000000010401600000030201000504010080200606017f01412a0b070501016d02000a040102000b";
const PROGRAM = `
  globalThis.kept = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from("${MODULE}", "hex")));
  new Uint8Array(kept.exports.m.buffer).fill(1);
  setInterval(() => {}, 1000);
  console.log("ready");`;

/** Starts the program. */
export async function startTarget(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", "--eval", PROGRAM]);
  const [text] = (await once(child.stderr, "data")) as [Buffer];
  const url = /ws:\/\/\S+/.exec(String(text))?.[0];
  if (url === undefined) throw new Error(`expected the address of an inspector, found ${text}`);
  await once(child.stdout, "data");
  return { child, url };
}

/** Attaching, and taking dumps, as calls of the API. */
export function attachCalls(url: string, folder: string): Call[] {
  const open = async () => [];
  const dump = join(folder, "attached.dump");
  const host = { hostOutput: `${dump}.heapsnapshot` };
  const taking =
    (outputs: typeof host | undefined): Call["start"] =>
    async (signal) => {
      const target = await attach(url, { signal });
      try {
        await target.writeDump(dump, outputs ?? {});
      } finally {
        await target.close();
      }
    };
  return [
    {
      name: "attach",
      open,
      start: async (signal) => (await attach(url, { signal })).close(),
    },
    { name: "attach, writeDump", open, start: taking(undefined) },
    { name: "attach, writeDump with host", open, start: taking(host) },
  ];
}

/** The same as commands. */
export function attachCommands(url: string, folder: string): string[][] {
  const output = join(folder, "attached.dump");
  return [
    ["attach", url, "--list"],
    ["attach", url, "--output", output],
  ];
}
