/** The reference of the methods of JSON-RPC, from their schemas. */
import { END, type Question } from "../../packages/mcp/src/question.mts";
import { object, withTypes } from "../../packages/mcp/src/schema.mts";

interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** The greatest whole number of a schema without a limit. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** The page. */
export function reference(questions: Question[], start: string): string {
  const end = object(END) as Schema;
  const common = ["```ts", `type End = ${typeText(end, "")};`, "```"].join("\n");
  return [start.trim(), common, ...questions.map(section)].join("\n\n").concat("\n");
}

function section({ name, title, description, basis, input, output }: Question): string {
  const given = input as Schema;
  const answered = withoutEnd(withTypes(output) as Schema);
  const parameters = Object.entries(given.properties ?? {}).map(([key, schema]) => {
    const isNeeded = given.required?.includes(key) === true;
    const cells = [
      `\`${key}\``,
      `\`${typeText(schema)}\``.replaceAll("|", "\\|"),
      isNeeded
        ? "required"
        : schema.default === undefined
          ? ""
          : `\`${JSON.stringify(schema.default)}\``,
      [schema.description, limits(schema)].filter(Boolean).join("; ").replaceAll("|", "\\|"),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    `## ${name}`,
    "",
    `${title}. ${description} ${basis}`,
    "",
    "| parameter | type | default | |",
    "|---|---|---|---|",
    ...parameters,
    "",
    "```ts",
    `type Result = End & ${typeText(answered, "")};`,
    ...Object.entries(answered.$defs ?? {}).map(
      ([named, schema]) => `type ${named} = ${typeText(schema, "")};`,
    ),
    "```",
  ].join("\n");
}

/** The fields of a result that not every result has. */
function withoutEnd(schema: Schema): Schema {
  const own = Object.entries(schema.properties ?? {}).filter(([key]) => !Object.hasOwn(END, key));
  return { ...schema, properties: Object.fromEntries(own) };
}

/** A schema as a type of TypeScript: on one line, or with an indentation on several. */
function typeText(schema: Schema, indent?: string): string {
  if (schema.$ref !== undefined) return schema.$ref.replace("#/$defs/", "");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((one) => typeText(one, indent)).join(" | ");
  }
  if (schema.type === "array") {
    const of = typeText(schema.items ?? {}, indent);
    return of.includes(" | ") && !of.startsWith("{") ? `(${of})[]` : `${of}[]`;
  }
  if (schema.type === "object") return objectText(schema, indent);
  return [schema.type ?? "unknown"].flat().join(" | ").replace("integer", "number");
}

function objectText({ properties = {}, required = [] }: Schema, indent?: string): string {
  const fields = Object.entries(properties).map(([key, schema]) => {
    const inner = indent === undefined ? undefined : `${indent}  `;
    const text = `${key}${required.includes(key) ? "" : "?"}: ${typeText(schema, inner)}`;
    if (indent === undefined) return text;
    const comment = schema.description === undefined ? "" : ` // ${schema.description}`;
    return `${inner}${text};${comment}`;
  });
  return indent === undefined ? `{ ${fields.join("; ")} }` : `{\n${fields.join("\n")}\n${indent}}`;
}

function limits(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, minItems, maxItems, maxLength, minLength } = schema;
  const most = maximum === NO_LIMIT ? undefined : maximum;
  const parts = [
    range(minimum, most, ""),
    exclusiveMinimum === undefined ? "" : `above ${exclusiveMinimum}`,
    range(minItems, maxItems, " entries"),
    range(minLength, maxLength, " characters"),
  ];
  return parts.filter(Boolean).join(", ");
}

function range(least: number | undefined, most: number | undefined, what: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${what}`;
  if (most !== undefined) return `at most ${most}${what}`;
  return least === undefined ? "" : `at least ${least}${what}`;
}
