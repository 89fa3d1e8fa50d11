/** The table of options in `docs/commands.md`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Definitions,
  definitions,
  questionsOf,
  type Schema,
  textsOf,
  withoutNull,
} from "./schema.ts";

const BEGIN = "<!-- Written by `just generate`. -->\n";
const END = "<!-- The end of what is written. -->\n";

/** The page with its table as the schemas say. */
export function commandsPage(): string {
  const page = readFileSync(join(import.meta.dirname, "../../docs/commands.md"), "utf8");
  const [before, rest] = parted(page, BEGIN);
  const [, after] = parted(rest, END);
  return `${before}${BEGIN}${table()}${END}${after}`;
}

function parted(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`docs/commands.md has no line ${mark.trim()}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

function table(): string {
  const all = definitions("options");
  const commands: [string, Schema][] = [
    ...questionsOf(all),
    ["growth", all.GrowthOptions as Schema],
    ["check", all.CheckOptions as Schema],
    ["analyze", all.AnalyzeOptions as Schema],
    ["diff", all.DiffOptions as Schema],
  ];
  const reading: [string, Schema][] = [
    ["reading a dump", all.AnalysisOptions as Schema],
    ["with a host", all.HostInputs as Schema],
    ["", { properties: { slots: all.OpenOptions?.properties?.slots ?? {} } }],
  ];
  const named = commands.map(([name, schema]) => [`\`${name}\``, schema] as const);
  const rows = [...named, ...reading].flatMap(([name, schema]) =>
    optionsOf(schema, all).map((cells, nth) => {
      const command = nth === 0 ? name : "";
      return `| ${[command, ...cells].join(" | ")} |\n`;
    }),
  );
  return `| command | option | |\n|---|---|---|\n${rows.join("")}`;
}

/** Flags and help of each option. */
function optionsOf({ properties = {}, ...schema }: Schema, all: Definitions): string[][] {
  const { earlier } = schema["x-command"] ?? {};
  const options = Object.values(properties).map((option) => {
    const values = textsOf(withoutNull(option), all);
    return [option["x-cli"] ?? "", values === undefined ? "" : ` (${values.join(", ")})`] as const;
  });
  if (earlier !== undefined) options.push([earlier.cli, ""]);
  return options.flatMap(([cli, values]) => {
    const end = cli.indexOf(": ");
    if (end < 0) return [];
    const cells = [`\`${cli.slice(0, end)}\``, `${cli.slice(end + 2)}${values}`];
    return [cells.map((cell) => cell.replaceAll("|", "\\|"))];
  });
}
