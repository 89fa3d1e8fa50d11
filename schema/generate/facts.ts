/** What the command line and the checks of values need of the schemas: `js/generated/options.ts`. */
import {
  type Definitions,
  definitions,
  nameOf,
  questionsOf,
  type Schema,
  textsOf,
  withoutNull,
} from "./schema.ts";

const HEAD = `/** Options of questions, comparisons and exports. Written by \`just generate\` from the types of the engine. */
import type { CommandFacts, OptionFacts } from "../option_facts.js";

`;

const OPENING = {
  analysis: "AnalysisOptions",
  analyze: "AnalyzeOptions",
  diff: "DiffOptions",
  open: "OpenOptions",
  host: "HostInputs",
  files: "FileOptions",
};

type Facts = Record<string, unknown>;

export function facts(): string {
  const all = definitions("options");
  const questions = Object.fromEntries(
    questionsOf(all).map(([name, schema]) => [name, commandFacts(schema, all)]),
  );
  const exports = Object.fromEntries(
    (all.Export?.oneOf ?? []).map(({ properties: { format, ...properties } = {} }) => [
      String(format?.const),
      optionFacts(properties, all),
    ]),
  );
  return [
    HEAD,
    constant("QUESTIONS", "CommandFacts", questions),
    constant("COMPARISONS", "CommandFacts", {
      growth: commandFacts(all.GrowthOptions as Schema, all),
      check: commandFacts(all.CheckOptions as Schema, all),
    }),
    constant("OPENING", "Record<string, OptionFacts>", openingFacts(all)),
    constant("EXPORTS", "Record<string, OptionFacts>", exports),
  ].join("\n");
}

/** How dumps are read, heaps are opened, and views are listed. */
function openingFacts(all: Definitions): Record<string, Facts> {
  const parts = Object.entries(OPENING).map(([part, name]) => [
    part,
    optionFacts(all[name]?.properties ?? {}, all),
  ]);
  return Object.fromEntries(parts);
}

function constant(name: string, type: string, value: Record<string, object>): string {
  const keys = Object.keys(value)
    .map((key) => JSON.stringify(key))
    .join(" | ");
  return `export const ${name}: Record<${keys}, ${type}> = ${JSON.stringify(value, null, 2)};\n`;
}

function commandFacts(
  { properties = {}, required = [], ...schema }: Schema,
  all: Definitions,
): Facts {
  const { earlier, ...command } = schema["x-command"] ?? { about: "" };
  const options = Object.entries(optionFacts(properties, all));
  if (earlier !== undefined) {
    const at = options.findIndex(([name]) => name === earlier.behind) + 1;
    options.splice(at, 0, [earlier.name, { type: "heap", cli: earlier.cli }]);
  }
  for (const [name, option] of options) if (required.includes(name)) option.isRequired = true;
  return { ...command, options: Object.fromEntries(options) };
}

function optionFacts(properties: Definitions, all: Definitions): Record<string, Facts> {
  const entries = Object.entries(properties).flatMap(([name, schema]) =>
    schema["x-flat"] === undefined
      ? [[name, factsOf(schema, all)] as const]
      : Object.entries(optionFacts(all[nameOf(schema.$ref ?? "")]?.properties ?? {}, all)),
  );
  return Object.fromEntries(entries);
}

function factsOf(given: Schema, all: Definitions): Facts {
  const schema = withoutNull(given);
  const { minimum, exclusiveMinimum, "x-cli": cli, "x-target": isTarget } = schema;
  checkDefault(given);
  const values = textsOf(schema, all);
  const items = schema.type === "array" ? withoutNull(schema.items ?? {}) : undefined;
  return defined({
    type: given["x-earlier"]
      ? "heap"
      : given["x-ts"] || items?.$ref
        ? "other"
        : values
          ? "string"
          : schema.type,
    enum: values,
    minimum: schema.type === "integer" ? minimum : undefined,
    exclusiveMinimum,
    maximum: schema.maximum ?? (schema.format === "uint32" ? 2 ** 32 - 1 : undefined),
    properties: schema.properties && optionFacts(schema.properties, all),
    required: schema.properties && schema.required,
    items: items === undefined || items.$ref !== undefined ? undefined : factsOf(items, all),
    cli,
    isTarget,
  });
}

/** Help that names a default must name that of the engine. */
function checkDefault({ default: value, "x-cli": cli = "" }: Schema): void {
  const named = /\(default: (\d+)\)$/.exec(cli)?.[1];
  if (named !== undefined && Number(named) !== value) {
    throw new Error(`"${cli}": the default of the engine is ${value}`);
  }
}

function defined(facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** The fields of the page that finds objects: `js/generated/find_fields.ts`. */
export function findFields(): string {
  const all = definitions("options");
  const [, find] = questionsOf(all).find(([name]) => name === "find") ?? [];
  const fields = Object.entries(find?.properties ?? {}).flatMap(([name, schema]) => {
    const [title, example] = schema["x-page"]?.split(": ") ?? [];
    if (title === undefined) return [];
    return [defined({ name, title, example, values: textsOf(withoutNull(schema), all) })];
  });
  return `/** Fields with which a page finds objects. Written by \`just generate\` from the types of the engine. */
export interface FindField {
  name: string;
  title: string;
  example?: string;
  /** All texts that it can be. */
  values?: readonly string[];
}

export const FIND_FIELDS: readonly FindField[] = ${JSON.stringify(fields, null, 2)};
`;
}
