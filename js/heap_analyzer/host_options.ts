/** The options of commands that join a dump with the heap snapshot of its host. */
import { type Command, InvalidArgumentError } from "commander";
import { FIRST_ID, numbersBeside } from "../host_numbers.js";
import type * as native from "../native.js";
import { addon } from "./addon.js";
import { dumpFile, inputFile } from "./inputs.js";
import { fileName } from "./options.js";

/** The options. */
export interface HostOptions {
  /** The heap snapshot. */
  host?: string;
  /** The numbers that it does not show. */
  numbers?: string;
  /** Fields that have an index into an array of JavaScript. */
  slot?: string[];
}

/** An address, or the id of an object of a heap snapshot. */
export type ObjectAddress = number | { id: number };

/** Adds the options. */
export function addHostOptions(command: Command): Command {
  return command
    .option(
      "--host <file>",
      "the heap snapshot of the host, captured with the dump: JavaScript that holds objects by number",
      fileName,
    )
    .option(
      "--numbers <file>",
      "the numbers that the heap snapshot does not show (default: the .numbers.json beside it)",
      fileName,
    )
    .option(
      "--slot <field=path>",
      "a field that has an index into an array of JavaScript: assembly/index/Item.id=host.slots",
      slot,
    );
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
export function hostFiles({ host, numbers }: HostOptions): string[] {
  const files = [host, numbersOf({ host, numbers })];
  return files.filter((file) => file !== undefined);
}

/** The file of numbers: the given one, or the one beside the snapshot. */
function numbersOf({ host, numbers }: HostOptions): string | undefined {
  return numbers ?? (host === undefined ? undefined : numbersBeside(host));
}

/** Refuses options of the host that have no effect. */
export function checkHost(options: HostOptions, dumps: readonly string[]): void {
  const { host, numbers, slot: slots } = options;
  const needing = numbers === undefined ? (slots === undefined ? undefined : "--slot") : "--numbers";
  if (host === undefined && needing !== undefined) {
    throw new Error(`option '${needing}' needs --host: the heap snapshot of the host`);
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
  const numbers = numbersOf(options);
  return await addon().openJoined(
    dumpFile(dump, request),
    inputFile(wasm),
    inputFile(options.host),
    numbers === undefined ? undefined : inputFile(numbers),
    { ...request, slots: options.slot ?? [] },
    control,
  );
}

/** An address as the analyzer takes it: of an object of JavaScript beside those of a dump, above all of these. */
export function plainAddress(address: ObjectAddress, { host }: HostOptions): number {
  if (typeof address === "number") return address;
  return host === undefined ? address.id : address.id + FIRST_ID;
}
