/** `attach`: takes a dump of a running process or page that was not prepared. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { undoUnfinished } from "../../attach/unfinished.js";
import type { Attached, FrameValue, PausedFrame } from "../../attach.js";
import { escapeUnprintable } from "../../text.js";
import { formatSize } from "../../units.js";
import { type AttachingOptions, addAttachingOptions, attaching } from "../attaching.js";
import { interruptibly } from "../interruption.js";
import { oneLine, writeNote, writeWarning } from "../messages.js";
import { fileName } from "../options.js";
import { writeText } from "../output.js";
import { wholeNumber } from "../quantities.js";

interface AttachCommandOptions extends AttachingOptions {
  list?: boolean;
  instance?: number;
  output?: string;
  wasmOutput?: string;
  host?: boolean;
  closures?: boolean;
  frames?: boolean;
}

export function addCommand(program: Command): void {
  const command = program
    .command("attach")
    .description(
      "take a dump of a running process or page that was not prepared, or of a core file",
    )
    .argument(
      "<target>",
      "a process id, the address of an inspector (http://127.0.0.1:<port> or ws://127.0.0.1:<port>/<id>), or a core file",
    )
    .option("-o, --output <file>", "the dump to write", fileName)
    .option("--wasm-output <file>", "the module to write (default: <output>.wasm)", fileName)
    .option(
      "--host",
      "also write a heap snapshot of V8 of the same moment and the numbers that it does not show: <output>.heapsnapshot, <output>.numbers.json",
    )
    .option(
      "--closures",
      "with --host: also read the variables of functions, which takes seconds for some thousand functions",
    )
    .option(
      "--frames",
      "pause the program in its work, and write locals and operands of its functions: <output>.frames.json",
    )
    .option("--list", "only list the WebAssembly instances with a memory, as without --output")
    .option("--instance <n>", "which instance, by its number in the list", wholeNumber(0))
    .action(runAttach);
  addAttachingOptions(command);
}

async function runAttach(name: string, options: AttachCommandOptions): Promise<void> {
  if (options.list && options.output !== undefined) {
    throw new Error("attach: expected either --list or --output <file>");
  }
  const needing = (["host", "frames", "wasmOutput"] as const).find((name) => options[name]);
  if (options.output === undefined && needing !== undefined) {
    const flag = needing === "wasmOutput" ? "wasm-output" : needing;
    throw new Error(`attach: --${flag} needs --output <file>`);
  }
  if (options.closures && !options.host) throw new Error("attach: --closures needs --host");
  await interruptibly(undoUnfinished, () => attachTo(name, options));
}

async function attachTo(name: string, options: AttachCommandOptions): Promise<void> {
  const { output, instance } = options;
  // The package is loaded only when it is needed: other commands need no connection.
  const { attachKnowing } = await import("../../attach.js");
  const { KnownModules } = await import("../../attach/known_modules.js");
  const target = await attachKnowing(name, attaching(options), "all work", new KnownModules());
  try {
    if (output === undefined) {
      writeText(table(target));
      return;
    }
    const base = output.replace(/\.dump$/, "");
    const wasmOutput = options.wasmOutput ?? `${base}.wasm`;
    const hostOutput = options.host ? `${base}.heapsnapshot` : undefined;
    const framesOutput = options.frames ? `${base}.frames.json` : undefined;
    const numbersOutput = options.host ? `${base}.numbers.json` : undefined;
    const outputs = { wasmOutput, hostOutput, numbersOutput, framesOutput };
    const { closures } = options;
    const warnings = await target.writeDump(output, { instance, closures, ...outputs });
    for (const warning of warnings) writeWarning(warning);
    if (framesOutput !== undefined) {
      const { frames } = JSON.parse(readFileSync(framesOutput, "utf8")) as {
        frames: PausedFrame[];
      };
      writeText(framesText(frames).map(escapeUnprintable).join("\n").concat("\n"));
    }
    if (target.howTaken !== undefined) writeNote(target.howTaken);
    const files = [output, ...Object.values(outputs)].filter((file) => file !== undefined);
    writeNote(
      `wrote ${files.slice(0, -1).join(", ")} and ${files.at(-1)}: they contain the program's memory, including its secrets`,
    );
  } finally {
    await target.close();
  }
}

function table({ instances, whyNone }: Attached): string {
  if (whyNone !== undefined) return oneLine(whyNone);
  const rows = instances.map(({ thread, realm, module, memorySize, usedSize }, nth) => {
    const used = usedSize === undefined ? [] : [`(${formatSize(usedSize)} used)`];
    const words = [`${nth}`, formatSize(memorySize), ...used, thread, realm, module];
    return oneLine(words.join("  "));
  });
  return rows.join("");
}

/** How many locals of a frame are printed. The file has all. */
const SHOWN_VALUES = 8;
/** How many frames are printed. */
const SHOWN_FRAMES = 20;

function framesText(frames: readonly PausedFrame[]): string[] {
  if (frames.length === 0) return ["no WebAssembly function was running"];
  const lines = frames.slice(0, SHOWN_FRAMES).flatMap((frame) => {
    const { locals, operands = [] } = frame;
    const name = `${frame.function}${frame.isOfModule ? "" : " (another module)"}`;
    if (locals === undefined) return [`${name}: it ran before its locals could be read`];
    const more = locals.length - SHOWN_VALUES;
    return [
      name,
      ...locals.slice(0, SHOWN_VALUES).map(valueText),
      ...(more > 0 ? [`  ${more} more locals`] : []),
      ...operands.slice(-SHOWN_VALUES).map((value) => valueText({ ...value, name: "operand" })),
    ];
  });
  const more = frames.length - SHOWN_FRAMES;
  return more > 0 ? [...lines, `${more} more functions`] : lines;
}

const valueText = ({ name, type, value }: FrameValue) => `  ${name} ${type} ${value}`;
