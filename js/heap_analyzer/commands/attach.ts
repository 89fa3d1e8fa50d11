/** `attach`: takes a dump of a running process or page that was not prepared. */
import type { Command } from "commander";
import type { AttachedInstance } from "../../attach.js";
import { formatSize } from "../../units.js";
import { writeNote, writeWarning } from "../messages.js";
import { fileName, wholeNumber } from "../options.js";
import { writeText } from "../output.js";

interface AttachCommandOptions {
  list?: boolean;
  instance?: number;
  output?: string;
  wasmOutput?: string;
  timeout: number;
}

export function addAttachCommand(program: Command): void {
  program
    .command("attach")
    .description("take a dump of a running Node process or Chromium page that was not prepared")
    .argument(
      "<target>",
      "a process id, or the address of an inspector: http://127.0.0.1:<port> or ws://127.0.0.1:<port>/<id>",
    )
    .option("-o, --output <file>", "the dump to write", fileName)
    .option("--wasm-output <file>", "the module to write (default: <output>.wasm)", fileName)
    .option("--list", "only list the WebAssembly instances with a memory")
    .option("--instance <n>", "which instance, by its number in the list", wholeNumber(0))
    .option("--timeout <seconds>", "how long the target may take to answer", wholeNumber(1), 30)
    .action(runAttach);
}

async function runAttach(name: string, options: AttachCommandOptions): Promise<void> {
  const { list, output, instance, timeout } = options;
  if ((list === true) === (output !== undefined)) {
    throw new Error("attach: expected either --list or --output <file>");
  }
  // The package is loaded only when it is needed: other commands need no connection.
  const { attach } = await import("../../attach.js");
  const target = await attach(name, { timeout: timeout * 1000 });
  try {
    if (output === undefined) {
      writeText(table(target.instances));
      return;
    }
    const wasmOutput = options.wasmOutput ?? `${output.replace(/\.dump$/, "")}.wasm`;
    const warnings = await target.writeDump(output, { instance, wasmOutput });
    for (const warning of warnings) writeWarning(warning);
    writeNote(
      `wrote ${output} and ${wasmOutput}: they contain the program's memory, including its secrets`,
    );
  } finally {
    await target.close();
  }
}

function table(instances: readonly AttachedInstance[]): string {
  if (instances.length === 0) return "no WebAssembly instance with a memory\n";
  const rows = instances.map(({ thread, realm, module, memorySize }, nth) =>
    [`${nth}`, formatSize(memorySize), thread, realm, module].join("  "),
  );
  return `${rows.join("\n")}\n`;
}
