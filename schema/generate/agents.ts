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
import type { JsonSchema } from "../../../../js/option_facts.ts";

`;

type Sent = Record<string, unknown>;

/** In which order alternatives are listed. */
const TYPES = ["number", "string", "boolean", "null"];

/** Types that a list of tools names, because several fields have them. All others stand where they are used. */
const NAMED: Record<string, string> = {
  SizeParts: "parts",
  Evidence: "evidence",
  Root: "root",
  Edge: "edge",
  HeldValue: "held",
  Branch: "branch",
  More: "more",
};
/** Parts of answers that are tools' answers of their own, or parts of these. */
const PARTS = ["FoundGroup", "ContainerPage"];

/** How dumps are read. */
const OPENING = ["AnalysisOptions", "HostInputs", "OpenOptions"];

export function agents(): string {
  const options = definitions("options");
  const answers = definitions("answers");
  const questions: [string, Schema][] = [
    ...questionsOf(options),
    ["growth", options.GrowthOptions as Schema],
    [
      "opening",
      { properties: Object.assign({}, ...OPENING.map((name) => options[name]?.properties)) },
    ],
  ];
  const bodies = choices(answers.AnswerBody as Schema)?.map(({ $ref = "" }) => nameOf($ref)) ?? [];
  const type = (name: string) => schemaOf(answers[name] as Schema, answers);
  return [
    HEAD,
    constant(
      "PARAMETERS",
      questions.map(([name, schema]) => [name, parametersOf(schema, options)]),
    ),
    constant(
      "ANSWERS",
      [...bodies, ...PARTS].map((name) => [name, type(name)]),
    ),
    constant(
      "NAMED",
      Object.entries(NAMED).map(([name, short]) => [short, type(name)]),
    ),
  ].join("\n");
}

function constant(name: string, entries: [string, Sent][]): string {
  const lines = entries.map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`,
  );
  return `export const ${name}: Record<string, JsonSchema> = {\n${lines.join("")}};\n`;
}

/** The parameters that agents can give. `$ref` is what all questions check in the same way. */
function parametersOf(
  { properties = {}, required = [], ...question }: Schema,
  all: Definitions,
): Sent {
  const { earlier } = question["x-command"] ?? {};
  const needed: string[] = [];
  const entries = Object.entries(properties).flatMap(([name, given]): [string, Sent][] => {
    const { name: other = name, is: $ref, ...agent } = given["x-agent"] ?? {};
    if (given["x-agent"] === undefined) return [];
    if (required.includes(name) || agent.default !== undefined) needed.push(other);
    const schema = withoutNull(given);
    const values = textsOf(schema, all);
    const { type, minimum, exclusiveMinimum, maximum } = schema;
    const own =
      values === undefined
        ? { type, minimum, exclusiveMinimum, maximum }
        : { type: "string", enum: values };
    return [[other, { ...($ref === undefined ? own : { $ref }), ...agent }]];
  });
  if (earlier !== undefined) {
    const at = entries.findIndex(([name]) => name === "limit");
    entries.splice(at, 0, [earlier.name, { $ref: "heap", description: earlier.agent }]);
  }
  return { properties: Object.fromEntries(entries), required: needed };
}

function answerSchema(given: Schema, all: Definitions): Sent {
  const { type, description } = given["x-agent"] ?? {};
  const plain = withoutNull(given);
  const isNullable =
    [given.type].flat().includes("null") || choices(given)?.some((one) => one.type === "null");
  const sent = type === undefined ? schemaOf(plain, all) : { type };
  return {
    ...(isNullable && !isShown(given) ? nullable(sent) : sent),
    ...(description === undefined ? {} : { description }),
  };
}

function nullable(sent: Sent): Sent {
  const isPlain = typeof sent.type === "string" && Object.keys(sent).length === 1;
  return isPlain ? { type: [sent.type, "null"] } : { anyOf: [sent, { type: "null" }] };
}

/** A value of a program, which can be null as it can be a number. */
function isShown(schema: Schema): boolean {
  return (choices(schema)?.length ?? 0) > 2 && textsOf(withoutNull(schema), {}) === undefined;
}

function schemaOf(schema: Schema, all: Definitions): Sent {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    const short = NAMED[name];
    return short === undefined
      ? answerSchema(all[name] as Schema, all)
      : { $ref: `#/$defs/${short}` };
  }
  if (schema.const !== undefined) return { type: typeof schema.const, const: schema.const };
  const texts = textsOf(schema, all);
  if (texts !== undefined) return { type: "string", enum: texts };
  const some = choices(schema);
  if (some !== undefined) {
    const types = new Set(some.map(({ type }) => String(type).replace("integer", "number")));
    const listed = TYPES.filter((type) => types.has(type) || type === "null");
    return { type: listed };
  }
  if (schema.type === "array")
    return { type: "array", items: answerSchema(schema.items ?? {}, all) };
  if (schema.type !== "object") return { type: String(schema.type).replace("integer", "number") };
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).filter(
    ([, field]) => field["x-agent"]?.hidden !== true,
  );
  const sent = fields.map(([name, field]) => [
    name,
    answerSchema(
      required.includes(name) ? field : { ...withoutNull(field), "x-agent": field["x-agent"] },
      all,
    ),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(sent),
    required: fields.map(([name]) => name).filter((name) => required.includes(name)),
    additionalProperties: false,
  };
}
