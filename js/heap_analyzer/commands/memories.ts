/** `memories`: which processes have a WebAssembly memory, how large it is, and how full. */
import type { Command } from "commander";
import type { AllMemories } from "../../outside/ask.js";
import { formatSize } from "../../units.js";
import { oneLine, writeWarning } from "../messages.js";
import { choiceOption } from "../options.js";
import { writeText } from "../output.js";
import { wholeNumber } from "../quantities.js";

interface MemoriesOptions {
  format: "text" | "json" | "openmetrics";
  deadline: number;
}

export function addCommand(program: Command): void {
  program
    .command("memories")
    .description("list the processes with a WebAssembly memory: how large it is, and how full")
    .argument("[pid...]", "only these processes (default: all of this user)")
    .addOption(
      choiceOption(
        "-f, --format <format>",
        "text, JSON, or OpenMetrics for a scraper",
        ["text", "json", "openmetrics"],
        {},
      ).default("text"),
    )
    .option("--deadline <seconds>", "how long it may take", wholeNumber(1, 86_400), 600)
    .action(runMemories);
}

async function runMemories(pids: string[], { format, deadline }: MemoriesOptions): Promise<void> {
  const wanted = pids.map(processId);
  // The addon is loaded only when it is needed.
  const { Asking } = await import("../../outside/ask.js");
  const asking = new Asking({ whole: deadline * 1000 });
  const all = await asking.memories(wanted.length === 0 ? undefined : wanted);
  if (all.unreadable > 0) {
    writeWarning(
      `${all.unreadable} other processes of this user cannot be read; of the first: ${all.whyUnreadable}`,
    );
  }
  const forms = { text, json, openmetrics };
  writeText(forms[format](all));
}

function processId(word: string): number {
  const pid = Number(word);
  if (/^\d+$/.test(word) && pid > 0 && pid < 2 ** 31) return pid;
  throw new Error(`memories: ${word} is no process id`);
}

function text({ processes }: AllMemories): string {
  if (processes.length === 0) return "no process with a WebAssembly memory was found\n";
  const rows = processes.flatMap(({ pid, program, memories }) =>
    memories.map(({ size, usedSize }) => {
      const share = `${Math.round((100 * usedSize) / size)} %`;
      return oneLine(
        [`${pid}`, formatSize(size), `${formatSize(usedSize)} used`, share, program].join("  "),
      );
    }),
  );
  return rows.join("");
}

/** One line. */
function json({ processes, unreadable }: AllMemories): string {
  const rows = processes.map(({ pid, program, memories }) => ({
    pid,
    program,
    memories: memories.map(({ address, size, usedSize }) => ({ address, size, usedSize })),
  }));
  return `${JSON.stringify({ processes: rows, unreadable })}\n`;
}

const GAUGES = [
  ["wasm_memory_size_bytes", "The size of a WebAssembly memory.", "size"],
  ["wasm_memory_used_bytes", "Bytes in pages of 4 KiB that are not only zeros.", "usedSize"],
] as const;

/** The text format of OpenMetrics 1.0. */
function openmetrics({ processes }: AllMemories): string {
  const lines = GAUGES.flatMap(([name, help, key]) => [
    `# TYPE ${name} gauge`,
    `# UNIT ${name} bytes`,
    `# HELP ${name} ${help}`,
    ...processes.flatMap(({ pid, program, memories }) =>
      memories.map((memory, nth) => {
        const labels = `pid="${pid}",program="${labelValue(program)}",memory="${nth}"`;
        return `${name}{${labels}} ${memory[key]}`;
      }),
    ),
  ]);
  return `${[...lines, "# EOF"].join("\n")}\n`;
}

function labelValue(value: string): string {
  return value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
}
