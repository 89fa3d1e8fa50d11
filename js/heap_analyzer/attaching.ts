/** The options of all commands that attach to a running program. */
import { type Command, Option } from "commander";
import type { AttachOptions } from "../attach.js";
import { fileName } from "./options.js";
import { wholeNumber } from "./quantities.js";

/** In seconds: the longest time of a timer is 2^31 ms. */
const LONGEST = Math.floor(2 ** 31 / 1000);

export interface AttachingOptions {
  inspector?: boolean;
  outside?: boolean;
  wasm?: string;
  tries?: number;
  timeout: number;
  deadline: number;
}

export function inspectorOption(): Option {
  return new Option(
    "--inspector",
    "open the inspector of a Node process by the signal SIGUSR1, and close it afterwards",
  );
}

export function addAttachingOptions(command: Command): Command {
  return command
    .addOption(inspectorOption())
    .option(
      "--outside",
      "read the memory of a process from outside, also if its inspector is open (Linux)",
    )
    .option(
      "-w, --wasm <file>",
      "from outside: the module, which only V8 keeps in the process",
      fileName,
    )
    .option("--tries <n>", "from outside: how many moments to try", wholeNumber(1, 1000), 3)
    .option("--timeout <seconds>", "how long the target may be silent", wholeNumber(1, LONGEST), 30)
    .option(
      "--deadline <seconds>",
      "how long finding the instances and taking a dump may take together",
      wholeNumber(1, LONGEST),
      600,
    );
}

/** The options for the API. */
export function attaching(options: AttachingOptions): AttachOptions {
  const { timeout, deadline, inspector, outside, wasm, tries } = options;
  const times = { timeout: timeout * 1000, deadline: deadline * 1000 };
  return { inspector, outside, wasm, tries, ...times };
}
