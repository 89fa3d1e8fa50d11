/** Checks values by what their schemas say: options of the API, and what agents, editors and pages ask. */
import { HeapAnalyzerError, invalidArgument } from "./errors.js";

/** A JSON Schema of a value, as far as the package writes such schemas. */
export interface JsonSchema {
  type?: string | readonly string[];
  /** All texts that it can be. */
  enum?: readonly string[];
  anyOf?: readonly JsonSchema[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  additionalProperties?: boolean;
  const?: unknown;
  default?: unknown;
  description?: string;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

/** What is known of an option. */
export interface OptionFacts extends JsonSchema {
  /** `heap` for an earlier one; `other` has a check of its own. */
  type: "string" | "boolean" | "integer" | "number" | "array" | "object" | "heap" | "other";
  items?: OptionFacts;
  /** Flags in the command line, a colon, and help. */
  cli?: string;
  /** One of several targets, of which a question has one. */
  isTarget?: true;
  /** It is no option, but an argument. */
  isRequired?: true;
}

/** What is known of a command and its options. */
export interface CommandFacts {
  about: string;
  takes?: readonly ("profile" | "host")[];
  modules?: "one or two" | "many";
  options: Record<string, OptionFacts>;
}

/** Checks the value of an option, and returns it as the addon takes it. */
export type Check = (name: string, value: unknown) => unknown;

/** A check for each option, with those of its own in place of the generic ones. */
export function checksOf(
  options: Record<string, OptionFacts>,
  own: Record<string, Check> = {},
): Record<string, Check> {
  const checks = Object.entries(options).map(([name, facts]) => [
    name,
    own[name] ?? checkOf(facts),
  ]);
  return Object.fromEntries(checks);
}

/** A check of a value. */
export function checkOf(schema: JsonSchema): Check {
  const { type, enum: values, minimum = 0, maximum, items = {} } = schema;
  if (values !== undefined) return oneOf(values);
  if (schema.anyOf !== undefined) return anyOf(schema.anyOf);
  switch (type) {
    case "string":
      return text(schema);
    case "boolean":
      return typed(type);
    case "integer":
      return wholeNumber(minimum, maximum);
    case "number":
      return fraction(schema.exclusiveMinimum ?? 0, maximum ?? 1);
    case "array":
      return list(
        items.type === "integer" ? "addresses" : `${items.type}s`,
        checkOf(items),
        schema,
      );
    default:
      return schema.properties === undefined ? (_, value) => value : object(schema);
  }
}

/** A check for a value of this type. */
export function typed(expected: "string" | "boolean" | "number" | "function"): Check {
  return (name, value) => {
    if (typeof value !== expected) throw invalidArgument(name, `a ${expected}`, value);
    return value;
  };
}

/** A check for whole numbers. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Check {
  const expected =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number ≥ ${least}`
      : `a whole number from ${least} to ${most}`;
  return (name, value) => {
    if (typeof value !== "number") throw invalidArgument(name, expected, value);
    if (!(Number.isInteger(value) && value >= least && value <= most)) {
      throw invalidOption(`${name}: found ${value}; expected ${expected}`);
    }
    return value;
  };
}

function oneOf(values: readonly string[]): Check {
  return (name, value) => {
    if (values.some((known) => known === value)) return value;
    if (typeof value !== "string") throw invalidArgument(name, "a string", value);
    throw invalidOption(`${name}: found ${value.slice(0, 100)}; expected ${values.join(", ")}`);
  };
}

/** A check by the first of these that is of the type of the value. */
function anyOf(schemas: readonly JsonSchema[]): Check {
  return (name, value) => {
    const types = schemas.map(({ type }) => String(type).replace("integer", "number"));
    const schema = schemas[types.indexOf(typeof value)];
    if (schema === undefined) throw invalidArgument(name, `a ${types.join(" or a ")}`, value);
    return checkOf(schema)(name, value);
  };
}

function fraction(above: number, most: number): Check {
  return (name, value) => {
    if (typeof value !== "number") throw invalidArgument(name, "a number", value);
    if (value > above && value <= most) return value;
    throw invalidOption(
      `${name}: found ${value}; expected a number above ${above} and at most ${most}`,
    );
  };
}

function text({ minLength = 0, maxLength, pattern, format }: JsonSchema): Check {
  return (name, value) => {
    if (typeof value !== "string") throw invalidArgument(name, "a string", value);
    const found = value.length > 100 ? `${value.length} characters` : JSON.stringify(value);
    const wrong = (expected: string) =>
      invalidOption(`${name}: found ${found}; expected ${expected}`);
    if (value.length < minLength) throw wrong(`at least ${minLength} characters`);
    if (value.length > (maxLength ?? value.length)) throw wrong(`at most ${maxLength} characters`);
    if (pattern !== undefined && !new RegExp(pattern).test(value))
      throw wrong(`text like ${pattern}`);
    if (format === "date-time" && !isTime(value)) throw wrong("a time like 2026-11-22T18:30:00Z");
    return value;
  };
}

/** Whether a text is a moment with its distance from UTC. */
function isTime(value: string): boolean {
  const [, day = ""] =
    /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.exec(value) ?? [];
  if (Number.isNaN(Date.parse(day)) || Number.isNaN(Date.parse(value))) return false;
  // The 30th of February is in March.
  return new Date(day).toISOString().startsWith(day);
}

/** A check for an array of what a check takes. */
export function list(
  what: string,
  check: Check,
  { minItems = 0, maxItems }: JsonSchema = {},
): Check {
  return (name, value) => {
    if (!Array.isArray(value)) throw invalidArgument(name, `an array of ${what}`, value);
    const count = value.length;
    if (count >= minItems && count <= (maxItems ?? count)) {
      return value.map((one, nth) => check(`${name}[${nth}]`, one));
    }
    throw invalidOption(
      `${name}: found ${count} entries; expected ${minItems} to ${maxItems ?? "any"}`,
    );
  };
}

function object(schema: JsonSchema): Check {
  return (name, value) => {
    const { values, problems } = readObject(schema, value, name);
    if (problems[0] !== undefined) throw problems[0];
    return values;
  };
}

/** The values of an object with the defaults of what it lacks, and what is wrong with it. */
export function readObject(schema: JsonSchema, given: unknown, within = "") {
  const { properties = {}, required = [] } = schema;
  const values: Record<string, unknown> = {};
  const problems: Error[] = [];
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return { values, problems: [invalidArgument(within || "arguments", "an object", given)] };
  }
  const prefix = within === "" ? "" : `${within}.`;
  for (const [name, one] of Object.entries(properties)) {
    // Null counts as absent.
    const value = (Object.hasOwn(given, name) ? given[name as never] : null) ?? undefined;
    try {
      if (value !== undefined) values[name] = checkOf(one)(`${prefix}${name}`, value);
      else if (required.includes(name)) throw invalidOption(`${prefix}${name}: it is missing`);
      else if (one.default !== undefined) values[name] = one.default;
    } catch (error) {
      problems.push(error as Error);
    }
  }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length > 0) {
    const names = unknown.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 100)));
    const keys = names.length === 1 ? "key" : "keys";
    problems.push(
      invalidOption(`${within || "arguments"}: Unrecognized ${keys}: ${names.join(", ")}`),
    );
  }
  return { values, problems };
}

export function invalidOption(message: string): HeapAnalyzerError {
  return new HeapAnalyzerError("ERR_INVALID_OPTION", message);
}
