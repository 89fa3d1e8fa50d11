/** The commands to run next, which answers name under what they found. */

import type * as native from "../native.js";
import { givenAddress } from "../units.js";
import type { HostOptions } from "./host_options.js";
import { STANDARD_INPUT } from "./inputs.js";
import type { ReadingOptions } from "./options.js";

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
  const files = [shellWord(dump)];
  if (module !== undefined) files.push("--wasm", shellWord(module));
  if (raw === true) files.push("--raw");
  for (const { name, values } of global) {
    files.push("--global", shellWord(`${name}=${values.at(-1)}`));
  }
  if (coredumpInstance !== undefined) {
    files.push("--coredump-instance", String(coredumpInstance));
  }
  if (host !== undefined) files.push("--host", shellWord(host));
  if (numbers !== undefined) files.push("--numbers", shellWord(numbers));
  if (handles !== undefined) files.push("--handles", shellWord(handles));
  for (const declared of slot) files.push("--slot", shellWord(declared));
  for (const { name, value } of root) {
    const address = givenAddress(value);
    files.push("--root", shellWord(name === "" ? address : `${name}=${address}`));
  }
  const command = (name: string) => `warpo-heap-analyzer ${name} ${files.join(" ")}`;
  return { next: { ofObject: command("object"), ofClass: `${command("paths")} --class` } };
}

/** The name of a file as one word of a shell. */
function shellWord(name: string): string {
  return /^[\w./:@%+,\\][\w./:@%+,=\\-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
