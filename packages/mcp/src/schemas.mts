/**
 * The schemas of tools as clients see them. A model may read them at the beginning of each session, so they are
 * as short as they can be. The server checks with the whole schemas.
 */
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";

type Standard = StandardSchemaWithJSON<unknown, unknown>;

/** The schema of arguments. They are checked with the question, with errors of bounded length. */
export function inputSchema(schema: z.ZodObject): Standard {
  return described(schema, "input", (value) => ({ value }));
}

/** The schema of structured content, which is checked before it is sent. */
export function outputSchema(schema: z.ZodObject): Standard {
  const { validate } = schema["~standard"];
  return described(schema, "output", validate as Standard["~standard"]["validate"]);
}

function described(
  schema: z.ZodObject,
  io: "input" | "output",
  validate: Standard["~standard"]["validate"],
): Standard {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io,
    // Clients accept fields that later versions add.
    override: ({ jsonSchema }) => {
      if (io === "output") delete jsonSchema.additionalProperties;
    },
  });
  const written = () => json;
  const { vendor, version } = schema["~standard"];
  return {
    "~standard": { vendor, version, validate, jsonSchema: { input: written, output: written } },
  };
}
