/** JSON Schemas of what is asked and answered, with their types in TypeScript. */
import type { SizeParts } from "../../answers.js";
import type { JsonSchema } from "../option_facts.js";

// No part of the JSON.
declare const TYPE: unique symbol;
const OPTIONAL = Symbol("optional");

/** The schema of a value of this type. */
export type Schema<T> = JsonSchema & { readonly [TYPE]?: T };
/** Of a field that may be absent. */
export type Optional<T> = Schema<T> & { [OPTIONAL]: true };
/** Fields by name. */
export type Fields = Record<string, Schema<unknown>>;
export type TypeOf<S> = S extends Schema<infer T> ? T : never;
type OptionalNames<F> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F];
/** The type of an object with these fields. */
export type ObjectOf<F> = { [K in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[K]> } & {
  [K in OptionalNames<F>]?: TypeOf<F[K]> | undefined;
};

export const text = (maxLength?: number, more: JsonSchema = {}): Schema<string> => ({
  type: "string",
  ...(maxLength === undefined ? {} : { maxLength }),
  ...more,
});
export const whole = (minimum: number, maximum: number): Schema<number> => ({
  type: "integer",
  minimum,
  maximum,
});
export const flag: Schema<boolean> = { type: "boolean" };
/** One of these texts. */
export const choice = <T extends string>(...values: T[]): Schema<T> => ({
  type: "string",
  enum: values,
});
export const list = <T>(items: Schema<T>, bounds: JsonSchema = {}): Schema<T[]> => ({
  type: "array",
  items,
  ...bounds,
});
export const nullable = <T>(schema: Schema<T>): Schema<T | null> =>
  schema.type !== undefined && Object.keys(schema).length === 1
    ? { type: [String(schema.type), "null"] }
    : { anyOf: [schema, { type: "null" }] };
export const optional = <T>(schema: Schema<T>, description?: string): Optional<T> => ({
  ...(description === undefined ? schema : described(schema, description)),
  [OPTIONAL]: true,
});
export const described = <T>(schema: Schema<T>, description: string): Schema<T> => ({
  ...schema,
  description,
});
/** What is left out is this. */
export const usually = <T>(schema: Schema<T>, value: T, description?: string): Schema<T> => ({
  ...schema,
  default: value,
  ...(description === undefined ? {} : { description }),
});
export const object = <F extends Fields>(properties: F): Schema<ObjectOf<F>> => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => {
    const field = properties[name] as Schema<unknown>;
    return !(OPTIONAL in field) && field.default === undefined;
  }),
  additionalProperties: false,
});

/** Numbers of answers. */
export const count: Schema<number> = { type: "number" };
/** Bytes. */
export const size = count;
/** Of heaps that were joined: a size by heap. */
export const parts = optional<SizeParts>({ $ref: "#/$defs/parts" });
