/** Types of TypeScript from schemas. */
import {
  choices,
  type Definitions,
  definitions,
  nameOf,
  questionsOf,
  type Schema,
  withoutNull,
} from "./schema.ts";

const MARK = "// Written by `just generate` from the types of the engine: change those.\n";

const ANSWERS = `/**
 * Answers of a loaded heap. The methods of \`Heap\` return them, and the command line prints them with
 * \`--format json\`: the same keys in the same order, so the JSON of equal answers is byte for byte the same.
 *
 * Sizes are in bytes, addresses are offsets in linear memory. The order of lists is size ↓, count ↓,
 * name ↑, address ↑, except where another order is given. The order is total.
 */
${MARK}import type { View, Warning } from "./index.js";

/** A part of a list. */
export interface Page {
  /** How many entries the whole list has. */
  total: number;
  /** How many entries are left out before the first listed one. */
  offset: number;
  /** The largest number of listed entries. */
  limit: number;
}
`;

const OPTIONS = `/** Options of the questions about loaded heaps, of their comparison over time, and of exports. */
${MARK}import type { Category } from "./answers.js";
import type { Heap, StreamOptions } from "./heap.js";
import type { Bytes } from "./index.js";

/** The part of a list that an answer contains. */
export type PageOptions = Pick<WasteOptions, "limit" | "offset">;
`;

/** Options of exports by format. One without options of its own has no interface. */
const EXPORTS: Record<string, { name: string; more?: string }> = {
  heapsnapshot: { name: "HeapSnapshotOptions" },
  "heap-diff": { name: "HeapDiffOptions", more: "  /** The earlier heap. */\n  before: Heap;\n" },
  parquet: { name: "ParquetOptions" },
};

/** How dumps are read, heaps are opened, and views are listed: as TypeScript names them, and what they extend. */
const OPENING: Record<string, [printed: string, extended?: string]> = {
  AnalysisOptions: ["AnalysisOptions"],
  AnalyzeOptions: ["AnalyzeOptions", "AnalysisOptions"],
  DiffOptions: ["DiffOptions", "AnalysisOptions"],
  OpenOptions: ["OpenOptions", "AnalysisOptions"],
  HostInputs: ["HostInputs<Input>"],
  FileOptions: ["FileOptions"],
};

/** What the part of the binding in JavaScript adds to an answer. */
const ADDED: Record<string, string> = {
  SitesAnswer: 'Omit<Answer, "schemaVersion">, Page',
  SiteGrowthAnswer: 'Omit<Answer, "schemaVersion">, Page',
  ConstructorView: "View",
  ComparisonView: "View",
  ChangedInstance: "Instance",
  ChangedInstanceColumns: "InstanceColumns",
};

/** Types that others define. */
const ELSEWHERE = ["Warning", "AnswerBody"];
/** Names that are links in documentation, beside those of the definitions. */
const LINKED = ["Heap", "ConstructorRow", "openBeneath"];

/** `answers.d.ts`. */
export function answers(): string {
  const all = definitions("answers");
  const bodies = choices(all.AnswerBody as Schema)?.map(({ $ref = "" }) => nameOf($ref)) ?? [];
  const extended = (name: string) => ADDED[name] ?? (bodies.includes(name) ? "Answer" : undefined);
  const roots = ["Answer", ...bodies, ...Object.keys(ADDED), ...Object.keys(all)];
  const printer = new Printer(all, "answer");
  const types = inOrderOfUse(all, roots).map((name) =>
    printer.definition(name, all[name] as Schema, extended(name)),
  );
  return [ANSWERS, ...types].join("\n");
}

/** `options.d.ts`. */
export function options(): string {
  const all = definitions("options");
  const printer = new Printer(all, "option");
  const questions = questionsOf(all).map(([question, schema]) => {
    const name = `${question[0]?.toUpperCase()}${question.slice(1)}Options`;
    return printer.definition(name, asked(schema));
  });
  const comparisons = ["GrowthOptions", "CheckOptions", "AcceptedPlace"].map((name) =>
    printer.definition(name, all[name] as Schema),
  );
  const exports = (all.Export?.oneOf ?? []).map((schema) => {
    const { format, ...properties } = schema.properties ?? {};
    const known = EXPORTS[String(format?.const)];
    if (known === undefined) return "";
    const flat = { ...schema, properties: flattened(properties, all) };
    return printer.definition(known.name, withRequired(flat, all), "StreamOptions", known.more);
  });
  const opening = Object.entries(OPENING).map(([name, [printed, extended]]) =>
    printer.definition(printed, all[name] as Schema, extended),
  );
  return [OPTIONS, ...questions, ...comparisons, ...exports, ...opening]
    .filter((text) => text !== "")
    .join("\n");
}

/** What the options of a question are in the API: without its object and its target, and with the earlier heap. */
function asked({ properties = {}, required = [], ...schema }: Schema): Schema {
  const { earlier } = schema["x-command"] ?? {};
  const heap = { description: earlier?.description ?? "", "x-ts": "Heap" };
  const own = Object.entries(properties).filter(
    ([name, option]) => !required.includes(name) && option["x-target"] === undefined,
  );
  const at = own.findIndex(([name]) => name === earlier?.behind) + 1 || own.length;
  if (earlier !== undefined) own.splice(at, 0, [earlier.name, heap]);
  return own.length === 0 ? {} : { ...schema, properties: Object.fromEntries(own) };
}

function flattened(properties: Definitions, all: Definitions): Definitions {
  const parts = Object.entries(properties).flatMap(([name, schema]) =>
    schema["x-flat"] === undefined
      ? [[name, schema] as const]
      : Object.entries(all[nameOf(schema.$ref ?? "")]?.properties ?? {}),
  );
  return Object.fromEntries(parts);
}

function withRequired(schema: Schema, all: Definitions): Schema {
  const flat = Object.values(schema.properties ?? {});
  const facts = all.DumpFacts?.required ?? [];
  return flat.length === 0
    ? schema
    : { ...schema, required: [...(schema.required ?? []), ...facts] };
}

/** The names from which no other leads first, each before those that it is the first to use. */
function inOrderOfUse(all: Definitions, roots: string[]): string[] {
  const names = new Set<string>();
  const visit = (name: string) => {
    if (names.has(name) || ELSEWHERE.includes(name)) return;
    names.add(name);
    const used = JSON.stringify(all[name]).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g);
    for (const [, next] of used) visit(next as string);
  };
  for (const root of roots) visit(root);
  return [...names];
}

class Printer {
  readonly #all: Definitions;
  readonly #kind: "answer" | "option";

  constructor(all: Definitions, kind: "answer" | "option") {
    this.#all = all;
    this.#kind = kind;
  }

  /** A type with its documentation, or nothing if it has no fields. */
  definition(name: string, schema: Schema, extended?: string, more = ""): string {
    const comment = this.#comment(schema, "");
    if (schema.properties === undefined) {
      return schema.type === undefined && choices(schema) === undefined
        ? ""
        : `${comment}export type ${name} = ${this.#type(schema, "")};\n`;
    }
    const head = extended === undefined ? name : `${name} extends ${extended}`;
    return `${comment}export interface ${head} {\n${more}${this.#fields(schema, "  ")}}\n`;
  }

  #fields({ properties = {}, required = [] }: Schema, indent: string): string {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const isRequired = required.includes(name) && schema.default === undefined;
      const type = this.#type(isRequired ? schema : withoutNull(schema), indent);
      const absent = this.#kind === "option" && !isRequired ? " | null | undefined" : "";
      const readonly = schema["x-readonly"] ? "readonly " : "";
      return `${this.#comment(schema, indent)}${indent}${readonly}${name}${isRequired ? "" : "?"}: ${type}${absent};\n`;
    });
    return fields.join("");
  }

  #type(schema: Schema, indent: string): string {
    if (schema["x-ts"] !== undefined) return schema["x-ts"];
    if (schema.$ref !== undefined) return nameOf(schema.$ref);
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined)
      return this.#union(schema.enum.map((one) => JSON.stringify(one)));
    const some = choices(schema);
    if (some !== undefined) return this.#union(some.map((one) => this.#type(one, indent)));
    const types = [schema.type ?? "unknown"].flat();
    return this.#union(types.map((type) => this.#plain(type, schema, indent)));
  }

  #plain(type: string, schema: Schema, indent: string): string {
    if (type === "integer") return "number";
    if (type === "array") {
      const of = this.#type(schema.items ?? {}, indent);
      return of.includes(" | ") && !of.startsWith("{") ? `(${of})[]` : `${of}[]`;
    }
    if (type !== "object") return type;
    if (schema.properties === undefined) {
      return `Record<string, ${this.#type((schema.additionalProperties ?? {}) as Schema, indent)}>`;
    }
    const text = `{\n${this.#fields(schema, `${indent}  `)}${indent}}`;
    return text.includes("*/") ? text : text.replace(/\n\s*/g, " ").replace("; }", " }");
  }

  /** Null stands last. */
  #union(types: string[]): string {
    const different = new Set(
      types.flatMap((type) => (/[{<`]/.test(type) ? type : type.split(" | "))),
    );
    const hasNull = different.delete("null");
    return [...different, ...(hasNull ? ["null"] : [])].join(" | ");
  }

  /** The description, with the meanings of the texts that it can be. */
  #comment(schema: Schema, indent: string): string {
    const { description = "" } = schema;
    if (description === "") return "";
    const meanings = (choices(withoutNull(schema)) ?? []).filter(
      (one) => one.const !== undefined && !description.includes(`\`${one.const}\``),
    );
    const list = meanings.map((one) => `\n- \`${one.const}\`: ${one.description}`).join("");
    const text = `${description}${list}`
      .replaceAll("`None`", "null")
      .replace(/\[(`[\w.]+`)\](\([^)]*\))?/g, "$1")
      .replace(/`((\w+)(?:\.\w+)?)`/g, (whole, link, name) =>
        this.#isLink(name) ? `{@link ${link}}` : whole,
      );
    const lines = text.split(/\n\n|\n(?=- )/).flatMap((part) => wrapped(part, 116 - indent.length));
    if (lines.length === 1 && (lines[0] as string).length < 110 - indent.length) {
      return `${indent}/** ${lines[0]} */\n`;
    }
    return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
  }

  #isLink(name: string): boolean {
    return LINKED.includes(name) || Object.hasOwn(this.#all, name);
  }
}

/** Lines of a text of at most so many characters. A line of a list goes on below its text. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  const inner = text.startsWith("- ") ? "  " : "";
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${last === undefined ? "" : inner}${word}`);
  }
  return lines;
}
