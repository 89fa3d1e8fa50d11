/** What agents are told of options and answers: `packages/mcp/src/generated/schemas.mts`. */
import {
  choices,
  type Definitions,
  definitions,
  nameOf,
  questionsOf,
  type Schema,
  textsOf,
  withoutNull,
} from "./schema.ts";

const HEAD = `/** Schemas of parameters and answers. Written by \`just generate\` from the types of the engine. */
import type { Schema } from "../schema.mts";

`;

type Sent = Record<string, unknown>;

/** In which order alternatives are listed. */
const TYPES = ["number", "string", "boolean", "null"];

export function agents(): string {
  const options = definitions("options");
  const answers = definitions("answers");
  const questions: [string, Schema][] = [
    ...questionsOf(options),
    ["growth", options.GrowthOptions as Schema],
  ];
  const parameters = questions.map(([name, schema]) => [name, parametersOf(schema, options)]);
  const sent = Object.entries(answers)
    .filter(([name]) => name !== "AnswerBody")
    .map(([name, schema]) => [name, answerSchema(schema, answers)]);
  return [
    HEAD,
    `export const PARAMETERS: Record<string, Record<string, Schema>> = ${json(parameters)};\n\n`,
    `export const ANSWERS: Record<string, Schema> = ${json(sent)};\n`,
  ].join("");
}

function json(entries: unknown[][]): string {
  return JSON.stringify(Object.fromEntries(entries as [string, unknown][]), null, 1);
}

/** The parameters that agents can give, by name. */
function parametersOf(
  { properties = {}, required = [], ...question }: Schema,
  all: Definitions,
): Sent {
  const { earlier } = question["x-command"] ?? {};
  const entries = Object.entries(properties).flatMap(([name, given]): [string, Sent][] => {
    const { name: other, ...agent } = given["x-agent"] ?? {};
    if (given["x-agent"] === undefined) return [];
    const schema = withoutNull(given);
    const values = textsOf(schema, all);
    const { type, minimum, exclusiveMinimum, maximum } = schema;
    const own =
      values === undefined ? { type, minimum, exclusiveMinimum, maximum } : { enum: values };
    const isRequired = required.includes(name) ? true : undefined;
    return [
      [other ?? name, { ...(agent.is === undefined ? own : {}), ...agent, isRequired }] as const,
    ];
  });
  if (earlier !== undefined) {
    const at = entries.findIndex(([name]) => name === "limit");
    entries.splice(at, 0, [earlier.name, { is: "heap", description: earlier.agent }]);
  }
  return Object.fromEntries(entries);
}

function answerSchema(given: Schema, all: Definitions): Sent {
  const { type, description } = given["x-agent"] ?? {};
  const plain = withoutNull(given);
  const isNullable =
    [given.type].flat().includes("null") || choices(given)?.some((one) => one.type === "null");
  const sent = type === undefined ? schemaOf(plain, all) : { type };
  return {
    ...(isNullable && !isShown(given) ? { ...sent, isNullable: true } : sent),
    ...(description === undefined ? {} : { description }),
  };
}

/** A value of a program, which can be null as it can be a number. */
function isShown(schema: Schema): boolean {
  return (choices(schema)?.length ?? 0) > 2 && textsOf(withoutNull(schema), {}) === undefined;
}

function schemaOf(schema: Schema, all: Definitions): Sent {
  if (schema.$ref !== undefined) return { ref: nameOf(schema.$ref) };
  if (schema.const !== undefined) return { const: schema.const };
  const texts = textsOf(schema, all);
  if (texts !== undefined) return { enum: texts };
  const some = choices(schema);
  if (some !== undefined) {
    const types = new Set(some.map(({ type }) => String(type).replace("integer", "number")));
    return { types: TYPES.filter((type) => types.has(type) || type === "null") };
  }
  if (schema.type === "array")
    return { type: "array", items: answerSchema(schema.items ?? {}, all) };
  if (schema.type !== "object") return { type: String(schema.type).replace("integer", "number") };
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    if (field["x-agent"]?.hidden === true) return [];
    const isOptional = !required.includes(name);
    const sent = answerSchema(
      isOptional ? { ...withoutNull(field), "x-agent": field["x-agent"] } : field,
      all,
    );
    return [[name, isOptional ? { ...sent, isOptional } : sent] as const];
  });
  return { type: "object", properties: Object.fromEntries(fields) };
}
