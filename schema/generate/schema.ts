/** The schemas in `schema/*.json`, which the Rust types write, as far as generators read them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  $ref?: string;
  /** The option of a command: flags, a colon, and its help. */
  "x-cli"?: string;
  /** The field of a page: its title, and after a colon an example. */
  "x-page"?: string;
  /** What is different for agents. */
  "x-agent"?: { is?: string; name?: string; description?: string; [limit: string]: unknown };
  /** The type in TypeScript, where an option is more pleasant than what the engine reads. */
  "x-ts"?: string;
  /** Of `paths`: it is not an option but one of the targets. */
  "x-target"?: true;
  "x-readonly"?: true;
  /** An earlier heap; the engine reads only whether there is one. */
  "x-earlier"?: true;
  /** Its properties are options beside the others. */
  "x-flat"?: true;
  "x-command"?: CommandFacts;
}

/** What a command is beside its options. */
export interface CommandFacts {
  about: string;
  takes?: ("profile" | "host")[];
  modules?: "one or two" | "many";
  /** The option for an earlier heap, behind the option of a name. */
  earlier?: { name: string; behind?: string; description: string; cli: string; agent: string };
}

export type Definitions = Record<string, Schema>;

/** The definitions of a file. */
export function definitions(name: "answers" | "options"): Definitions {
  const file = join(import.meta.dirname, `../${name}.json`);
  return JSON.parse(readFileSync(file, "utf8")).$defs;
}

export function nameOf(ref: string): string {
  return ref.replace("#/$defs/", "");
}

/** The alternatives of a schema that has some. */
export function choices(schema: Schema): Schema[] | undefined {
  return schema.anyOf ?? schema.oneOf;
}

/** A schema without null. */
export function withoutNull(schema: Schema): Schema {
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  const some = choices(schema)?.filter(({ type }) => type !== "null");
  const { anyOf, oneOf, type, enum: values, ...rest } = schema;
  if (some?.length === 1) {
    const { description, ...one } = some[0] as Schema;
    return { ...one, ...rest };
  }
  return {
    ...rest,
    ...(some === undefined ? {} : { anyOf: some }),
    ...(types.length === 0 ? {} : { type: types.length === 1 ? (types[0] as string) : types }),
    ...(values === undefined ? {} : { enum: values.filter((value) => value !== null) }),
  };
}

/** The texts that a schema allows, if these are all that it allows. */
export function textsOf(schema: Schema, all: Definitions): string[] | undefined {
  if (schema.$ref !== undefined) return textsOf(all[nameOf(schema.$ref)] as Schema, all);
  const texts = schema.enum ?? choices(schema)?.map((one) => one.const);
  return texts?.every((text) => typeof text === "string") ? (texts as string[]) : undefined;
}

/** The options of each question, by the name of the question. */
export function questionsOf(all: Definitions): [string, Schema][] {
  return (all.Question?.oneOf ?? []).map((schema) => {
    const { question, ...properties } = schema.properties ?? {};
    return [String(question?.const), { ...schema, properties }];
  });
}
