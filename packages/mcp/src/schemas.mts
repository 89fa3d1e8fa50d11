/**
 * The schemas of tools as clients see them. A model may read the arguments at the beginning of each session, so they are
 * as short as they can be: without what the errors name. The server checks with the whole schemas.
 */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";

type Json = Record<string, unknown>;

const LEFT_OUT = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "additionalProperties",
] as const;
const NOTHING = ["0", "false", "[]"];

/** The schema of arguments. They are checked with the question, with errors of bounded length. */
export function inputSchema(schema: z.ZodObject): StandardSchemaWithJSON<unknown, unknown> {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema }) => {
      for (const name of LEFT_OUT) delete jsonSchema[name];
      // What is left out is nothing, unless the schema says otherwise.
      if (NOTHING.includes(JSON.stringify(jsonSchema.default))) delete jsonSchema.default;
      // Models know what these are.
      for (const name of ["limit", "offset"]) {
        const page = jsonSchema.properties?.[name];
        if (typeof page === "object") delete page.description;
      }
    },
  });
  const written = () => json;
  const { vendor, version } = schema["~standard"];
  const validate = (value: unknown) => ({ value });
  return {
    "~standard": { vendor, version, validate, jsonSchema: { input: written, output: written } },
  };
}

/** The schema of an answer's structured content. Later versions may add fields. */
export function answerSchema(schema: z.ZodObject): Json {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: "output",
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
    },
  });
  return json;
}
