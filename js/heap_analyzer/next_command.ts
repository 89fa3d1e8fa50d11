/** The commands to run next, which answers name under what they found. */

import { existsSync } from "node:fs";
import type * as native from "../native.js";
import { givenAddress } from "../units.js";
import type { HostOptions } from "./host_options.js";
import { STANDARD_INPUT } from "./inputs.js";
import type { ReadingOptions } from "./options.js";
import { near, shellWord, startedAs } from "./started_as.js";

/** What an answer is rendered with: the beginnings of the next commands, if there are any. */
export interface Next {
  next?: native.NextCommandData;
}

/** The beginnings of the commands that continue with a dump. A pipe cannot be read again, so it has none. */
export function nextCommand(
  dump: string | undefined,
  module: string | undefined,
  options: ReadingOptions & HostOptions,
): Next {
  const {
    raw,
    global = [],
    coredumpInstance,
    root = [],
    host,
    numbers,
    handles,
    slot = [],
  } = options;
  if (dump === undefined || dump === STANDARD_INPUT || module === STANDARD_INPUT) return {};
  const files = [fileWord(dump)];
  if (module !== undefined) files.push("--wasm", fileWord(module));
  if (raw === true) files.push("--raw");
  for (const { name, values } of global) {
    files.push("--global", shellWord(`${name}=${values.at(-1)}`));
  }
  if (coredumpInstance !== undefined) {
    files.push("--coredump-instance", String(coredumpInstance));
  }
  if (host !== undefined) files.push("--host", fileWord(host));
  if (numbers !== undefined) files.push("--numbers", fileWord(numbers));
  if (handles !== undefined) files.push("--handles", fileWord(handles));
  for (const declared of slot) files.push("--slot", shellWord(declared));
  for (const { name, value } of root) {
    const address = givenAddress(value);
    files.push("--root", shellWord(name === "" ? address : `${name}=${address}`));
  }
  const program = startedAs();
  const command = (name: string, more = "") => `${program} ${name} ${files.join(" ")}${more}`;
  const next = {
    ofObject: command("object"),
    ofClass: command("paths", " --class"),
    ofPlace: command("find", " --place"),
  };
  const snapshot = host === undefined && module !== undefined ? snapshotBeside(dump) : undefined;
  if (snapshot === undefined) return { next };
  const ofPinned = command("paths", ` --host ${fileWord(snapshot)} --class`);
  return { next: { ...next, ofPinned } };
}

/** The heap snapshot of the host that was captured with a dump: it has the dump's name. */
export function snapshotBeside(dump: string): string | undefined {
  const snapshot = `${dump.replace(/\.dump$/, "")}.heapsnapshot`;
  return snapshot !== dump && existsSync(snapshot) ? snapshot : undefined;
}

const fileWord = (path: string) => shellWord(near(path));
