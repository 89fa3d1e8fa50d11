/** The options of commands that join a dump with the heap snapshot of its host. */
import { type Command, InvalidArgumentError } from "commander";
import { OPENING } from "../generated/options.js";
import { FIRST_ID, handlesBeside, numbersBeside } from "../host_numbers.js";
import type * as native from "../native.js";
import type { OptionFacts } from "../option_facts.js";
import { addon } from "./addon.js";
import { dumpFile, inputFile } from "./inputs.js";
import { addFactOptions } from "./options.js";
import type { ObjectAddress } from "./quantities.js";

/** The options. */
export interface HostOptions {
  /** The heap snapshot. */
  host?: string;
  /** The numbers that it does not show. */
  numbers?: string;
  /** Who pinned what. */
  handles?: string;
  /** Fields that have an index into an array of JavaScript. */
  slot?: string[];
}

/** Adds the options. */
export function addHostOptions(command: Command): Command {
  const { slots } = OPENING.open;
  const parsers = { slots: (text: string, earlier?: unknown) => slot(text, earlier as string[]) };
  return addFactOptions(command, { ...OPENING.host, slots: slots as OptionFacts }, parsers);
}

function slot(text: string, earlier: string[] = []): string[] {
  if (!/^.+\..+=.+$/.test(text)) {
    throw new InvalidArgumentError(
      "Expected Class.field=global.property: assembly/index/Item.id=host.slots.",
    );
  }
  return [...earlier, text];
}

/** The files of the host that a command reads. */
export function hostFiles(options: HostOptions, dump: string): string[] {
  const { host } = options;
  if (host === undefined) return [];
  const files = [host, numbersOf({ ...options, host }), handlesOf(options, dump)];
  return files.filter((file) => file !== undefined);
}

/** The file of numbers: the given one, or the one beside the snapshot. */
function numbersOf({ host, numbers }: HostOptions & { host: string }): string | undefined {
  return numbers ?? numbersBeside(host);
}

/** Who pinned what: the given file, or the one beside the dump. */
function handlesOf({ handles }: HostOptions, dump: string): string | undefined {
  return handles ?? handlesBeside(dump);
}

/** Refuses options of the host that have no effect. */
export function checkHost(
  options: HostOptions & { profile?: string },
  dumps: readonly string[],
): void {
  const { host, profile } = options;
  const names = ["numbers", "handles", "slot"] as const;
  const needing = names.find((name) => options[name] !== undefined);
  if (host === undefined && needing !== undefined) {
    throw new Error(`option '--${needing}' needs --host: the heap snapshot of the host`);
  }
  if (host !== undefined && profile !== undefined) {
    throw new Error(
      "option '--profile <file>' is for programs of C, C++, Rust and Zig: without --host",
    );
  }
  if (host !== undefined && dumps.length > 1) {
    throw new Error("option '--host <file>' goes with one dump: compare dumps without their hosts");
  }
}

/** Opens a dump together with the heap of its host. */
export async function openWithHost(
  dump: string,
  wasm: string | undefined,
  options: HostOptions & { host: string },
  request: native.OpenData,
  control: native.WorkControl,
): Promise<native.HeapHandle> {
  if (wasm === undefined) {
    throw new Error("option '--host <file>' needs --wasm: the module that the dump was taken from");
  }
  const file = (name: string | undefined) => (name === undefined ? undefined : inputFile(name));
  return await addon().openJoined(
    dumpFile(dump, request),
    inputFile(wasm),
    inputFile(options.host),
    file(numbersOf(options)),
    file(handlesOf(options, dump)),
    { ...request, slots: options.slot ?? [] },
    control,
  );
}

/** An address as the analyzer takes it: of an object of JavaScript beside those of a dump, above all of these. */
export function plainAddress(address: ObjectAddress, { host }: HostOptions): number {
  if (typeof address === "number") return address;
  return host === undefined ? address.id : address.id + FIRST_ID;
}
