/** Parameters and fields of answers, as the types of the engine say. */
import { z } from "zod";
import { address, glob, heap } from "./fields.mts";
import { ANSWERS, PARAMETERS } from "./generated/schemas.mts";
import type { Schema } from "./schema.mts";

/** Types that a list of tools names, because several fields have them. */
const NAMED: Record<string, string> = {
  SizeParts: "parts",
  Evidence: "evidence",
  Root: "root",
  Edge: "edge",
  HeldValue: "held",
  Branch: "branch",
  More: "more",
};

const known = new Map<string, z.ZodType>();
const SHARED: Record<string, z.ZodType> = { address, glob, heap };

/** Options as agents give them: a handle for a heap, and always a page. */
export type AskedOptions<T> = {
  [K in keyof T]-?: K extends "limit" | "offset"
    ? number
    : K extends "before"
      ? string | undefined
      : Exclude<T[K], null>;
};

/** The parameters of a question. */
export function parameters<T>(question: string): { [K in keyof T]: z.ZodType<T[K]> } {
  const all = Object.entries(PARAMETERS[question] ?? {}).map(([name, schema]) => {
    const { description, isRequired, default: usual } = schema;
    const plain = parameter(schema);
    const given = isRequired ? plain : plain.optional();
    const type = usual === undefined ? given : plain.default(usual);
    return [name, description === undefined ? type : type.describe(description)];
  });
  return Object.fromEntries(all);
}

function parameter(schema: Schema): z.ZodType {
  const { is, type, enum: values, minimum, exclusiveMinimum, maximum, maxLength } = schema;
  if (is !== undefined) return SHARED[is] as z.ZodType;
  if (values !== undefined) return z.enum(values as [string]);
  if (type === "boolean") return z.boolean();
  if (type === "string") return maxLength === undefined ? z.string() : z.string().max(maxLength);
  const bounded = type === "integer" ? z.number().int() : z.number();
  const above = exclusiveMinimum === undefined ? bounded : bounded.gt(exclusiveMinimum);
  const least = minimum === undefined ? above : above.min(minimum);
  return maximum === undefined ? least : least.max(maximum);
}

/** The fields of a type of answers: those of these names, or all. */
export function fields<T>(type: string): { [K in keyof T]-?: z.ZodType<T[K]> };
export function fields<T, K extends keyof T>(
  type: string,
  ...names: K[]
): { [N in K]-?: z.ZodType<T[N]> };
export function fields(type: string, ...names: string[]): z.ZodRawShape {
  const all = Object.entries(ANSWERS[type]?.properties ?? {});
  const wanted = names.length === 0 ? all : names.map((name) => all.find(([one]) => one === name));
  return Object.fromEntries(wanted.map((one) => [one?.[0], shape(one?.[1] as Schema)]));
}

/** A type of answers. */
export function typeNamed<T>(type: string): z.ZodType<T> {
  return shape({ ref: type }) as z.ZodType<T>;
}

function shape(schema: Schema): z.ZodType {
  const plain = shapeOf(schema);
  const nullable = schema.isNullable ? plain.nullable() : plain;
  const optional = schema.isOptional ? nullable.optional() : nullable;
  return schema.description === undefined ? optional : optional.describe(schema.description);
}

function shapeOf({
  ref,
  type,
  types,
  enum: values,
  const: only,
  items,
  properties,
}: Schema): z.ZodType {
  if (ref !== undefined) return typeOf(ref);
  if (only !== undefined) return z.literal(only as string);
  if (values !== undefined) return z.enum(values as [string]);
  if (types !== undefined) return z.union(types.map((one) => PLAIN[one]?.() as z.ZodType));
  if (type === "array") return z.array(shape(items ?? {}));
  if (properties === undefined) return PLAIN[String(type)]?.() ?? z.unknown();
  const entries = Object.entries(properties).map(([name, one]) => [name, shape(one)]);
  return z.strictObject(Object.fromEntries(entries));
}

const PLAIN: Record<string, () => z.ZodType> = {
  number: () => z.number(),
  string: () => z.string(),
  boolean: () => z.boolean(),
  null: () => z.null(),
};

/** A type that others refer to, of which one can have itself within. */
function typeOf(name: string): z.ZodType {
  const made = known.get(name);
  if (made !== undefined) return made;
  known.set(
    name,
    z.lazy(() => known.get(name) as z.ZodType),
  );
  const id = NAMED[name];
  const type = shapeOf(ANSWERS[name] as Schema);
  const whole = id === undefined ? type : type.meta({ id });
  known.set(name, whole);
  return whole;
}
