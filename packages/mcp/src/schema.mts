/** JSON Schemas of parameters and answers, and what they are in TypeScript. */
import type { JsonSchema } from "../../../js/option_facts.ts";
import { ADDRESS } from "../../../js/served/addresses.ts";
import {
  LONGEST_TEXT,
  MOST_ENTRIES,
  MOST_OFFSET,
} from "../../../js/served/questions/parameters.ts";
import {
  type Fields,
  optional,
  type Schema,
  text,
  usually,
  whole,
} from "../../../js/served/shapes.ts";
import { ANSWERS, NAMED, PARAMETERS } from "./generated/schemas.mts";

export * from "../../../js/served/shapes.ts";

export const path = text(4096);
export const heap = text(100, { description: "a handle from open_heaps" });
export const before = optional(text(100), "the handle of an earlier dump, to compare with");
export const glob = text(LONGEST_TEXT, { minLength: 1 });
export const address: Schema<number | string> = {
  anyOf: [
    { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    { type: "string", pattern: ADDRESS.source },
  ],
  description: "a number, or addressText (0x93a0, @1234)",
};
export const page = {
  limit: usually(whole(1, MOST_ENTRIES), 20, "entries to list"),
  offset: usually(whole(0, MOST_OFFSET), 0, "entries to leave out first"),
};

/** What all questions check in the same way. */
const SHARED: Record<string, JsonSchema> = { address, glob, heap };

/** Options as agents give them: a handle for a heap, and always a page. */
export type AskedOptions<T> = {
  [K in keyof T]-?: K extends "limit" | "offset"
    ? number
    : K extends "before"
      ? string | undefined
      : Exclude<T[K], null>;
};

/** The parameters of a question, as the types of the engine say. */
export function parameters<T>(question: string): { [K in keyof T]: Schema<T[K]> } {
  const { properties = {}, required = [] } = PARAMETERS[question] ?? {};
  const all = Object.entries(properties).map(([name, { $ref = "", ...own }]) => {
    const schema = { ...SHARED[$ref], ...own };
    return [name, required.includes(name) ? schema : optional(schema)];
  });
  return Object.fromEntries(all);
}

/** The fields of a type of answers, as the types of the engine say: those of these names, or all. */
export function fields<T>(type: string): { [K in keyof T]-?: Schema<T[K]> };
export function fields<T, K extends keyof T>(
  type: string,
  ...names: K[]
): { [N in K]-?: Schema<T[N]> };
export function fields(type: string, ...names: string[]): Fields {
  const { properties = {}, required = [] } = ANSWERS[type] ?? {};
  const wanted = names.length === 0 ? Object.keys(properties) : names;
  const all = wanted.map((name) => {
    const schema = properties[name] as JsonSchema;
    return [name, required.includes(name) ? schema : optional(schema)];
  });
  return Object.fromEntries(all);
}

/** A type of answers. */
export function typeNamed<T>(type: string): Schema<T> {
  return (ANSWERS[type] ?? { $ref: `#/$defs/${type}` }) as Schema<T>;
}

/** A type to which others refer. */
export const named = <T,>(name: string, schema: Schema<T>): Schema<T> => {
  NAMED[name] = schema;
  return { $ref: `#/$defs/${name}` };
};

/** A schema with the types to which it refers. */
export function withTypes(schema: JsonSchema): JsonSchema {
  const types: Record<string, JsonSchema> = {};
  const add = (within: JsonSchema) => {
    for (const [, name] of JSON.stringify(within).matchAll(/"#\/\$defs\/(\w+)"/g)) {
      const type = NAMED[name as string];
      if (type === undefined || name === undefined || name in types) continue;
      types[name] = type;
      add(type);
    }
  };
  add(schema);
  return Object.keys(types).length === 0 ? schema : { ...schema, $defs: types };
}

/** What a list of tools leaves out: a model may read it at the beginning of each session, and the errors name these. */
const BOUNDS =
  "minimum maximum exclusiveMinimum minLength maxLength minItems maxItems pattern additionalProperties";
const LEFT_OUT = new Set(BOUNDS.split(" "));

/** The schema of parameters as a list of tools has it. They are checked with the whole one. */
export function listed(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema, shown));
}

function shown(name: string, value: unknown): unknown {
  if (LEFT_OUT.has(name) || (name === "required" && String(value) === "")) return undefined;
  // What is left out is nothing, unless the schema says otherwise.
  if (name === "default" && ["0", "false", "[]"].includes(JSON.stringify(value))) return undefined;
  if (typeof value !== "object") return value;
  const { anyOf, description, ...rest } = value as JsonSchema;
  // Models know what these are.
  if (name === "limit" || name === "offset") return rest;
  // Alternatives differ in their types and bounds.
  const types = anyOf?.map(({ type }) => type as string);
  return types === undefined ? value : { ...rest, type: types, description };
}
