/** The questions as tools of the Model Context Protocol. */
import {
  fromJsonSchema,
  type JsonSchemaType,
  type JsonSchemaValidatorResult,
  type jsonSchemaValidator,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type JsonSchema, readObject } from "../../../js/option_facts.ts";
import { errorText } from "../../../js/served/errors.ts";
import { HUNT, huntPrompt, INSTRUCTIONS, NUMBERS } from "./hunt.mts";
import type { QuestionContext } from "./question.mts";
import { described, listed, type ObjectOf, object, optional, path, withTypes } from "./schema.mts";
import { contextOf, type Served } from "./served.mts";
import { LineTransport } from "./transport.mts";
import { version } from "./version.mts";
import { Waiting } from "./waiting.mts";

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 250;
/** Characters of an error's text. */
const LONGEST_ERROR = 2000;

/** Values that are checked with a schema, or for tools with their question: with errors of bounded length. */
const validator = (isChecked: boolean): jsonSchemaValidator => ({
  getValidator:
    <T,>(schema: JsonSchemaType) =>
    (given: unknown): JsonSchemaValidatorResult<T> => {
      const { values, problems } = isChecked
        ? readObject(schema as JsonSchema, given)
        : { values: given, problems: [] };
      const [problem] = problems;
      return problem === undefined
        ? { valid: true, data: values as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problem.message };
    },
});

const HUNT_FIELDS = {
  before: described(path, "the path of the earlier dump"),
  after: described(path, "the path of the later dump"),
  wasm: optional(path, "the path of their module"),
};
const HUNT_ARGUMENTS = fromJsonSchema<ObjectOf<typeof HUNT_FIELDS>>(
  object(HUNT_FIELDS) as JsonSchemaType,
  validator(true),
);

/** Serves until the client goes away. */
export async function serveMcp(served: Served): Promise<void> {
  await new Promise<void>((resolve) => {
    const waiting = new Waiting();
    // Servers of one client, one for each generation of the protocol that it tries.
    const context = contextOf(served);
    const transport = new LineTransport(process.stdin, process.stdout, waiting);
    serveStdio(() => mcpServer(served, context, waiting), {
      transport: closing(transport, resolve),
      onerror: (error) => process.stderr.write(`${error.message.slice(0, LONGEST_ERROR)}\n`),
    });
  });
}

/** Calls back after the transport was closed. */
function closing(transport: LineTransport, onClosed: () => void): LineTransport {
  const close = transport.close.bind(transport);
  transport.close = async () => {
    await close();
    onClosed();
  };
  return transport;
}

function mcpServer(
  { asked, asker }: Served,
  context: Omit<QuestionContext, "control">,
  waiting: Waiting,
): McpServer {
  const server = new McpServer(
    { name: "warpo-heap-analyzer", title: "WARPO heap analyzer", version },
    { instructions: INSTRUCTIONS, capabilities: { tools: {}, prompts: {}, resources: {} } },
  );
  for (const question of asked) {
    const { name, title, description, input } = question;
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: fromJsonSchema(listed(input) as JsonSchemaType, validator(false)),
        annotations:
          name === "export" || name === "attach"
            ? { readOnlyHint: false, destructiveHint: false, openWorldHint: false }
            : { readOnlyHint: true, openWorldHint: false },
      },
      async (args, { mcpReq }) => {
        const control = { signal: mcpReq.signal, progress: reporter(mcpReq) };
        try {
          const { text, structured } = await waiting.during(mcpReq.id, () =>
            asker.ask(question, args, { ...context, control }),
          );
          return { content: [{ type: "text", text }], structuredContent: structured };
        } catch (error) {
          const text = errorText(error, "agent").slice(0, LONGEST_ERROR);
          return { content: [{ type: "text", text }], isError: true };
        }
      },
    );
  }
  for (const [name, title, text] of [
    ["leak-hunt", "How to hunt a leak", HUNT],
    ["numbers", "What the numbers mean", NUMBERS],
  ] as const) {
    const uri = `heap-analyzer://guide/${name}`;
    const mimeType = "text/markdown";
    server.registerResource(name, uri, { title, mimeType }, () => ({
      contents: [{ uri, mimeType, text }],
    }));
  }
  // Not in the list of tools: there they would be two thirds of what a model reads.
  const answers = "heap-analyzer://schema/answers";
  const json = { title: "JSON Schemas of the answers by tool", mimeType: "application/json" };
  server.registerResource("answers", answers, json, () => {
    const schemas = asked.map(({ name, output }) => [name, withTypes(output)]);
    // Later versions may add fields.
    const isLeftOut = (name: string) => name === "additionalProperties";
    const text = JSON.stringify(Object.fromEntries(schemas), (name, value) =>
      isLeftOut(name) ? undefined : value,
    );
    return { contents: [{ uri: answers, mimeType: json.mimeType, text }] };
  });
  server.registerPrompt(
    "leak_hunt",
    {
      title: "Hunt a leak",
      description: "From two dumps to a paragraph for the ticket.",
      argsSchema: HUNT_ARGUMENTS,
    },
    ({ before, after, wasm }) => ({
      messages: [
        { role: "user", content: { type: "text", text: huntPrompt(before, after, wasm) } },
      ],
    }),
  );
  return server;
}

/** Reports progress to a client that asked for it: more each time, and not too often. */
function reporter(request: ServerContext["mcpReq"]): (fraction: number, phase: string) => void {
  const progressToken = request._meta?.progressToken;
  let last = 0;
  let due = 0;
  return (fraction, message) => {
    const now = performance.now();
    if (progressToken === undefined || fraction <= last || now < due) return;
    last = fraction;
    due = now + REPORT_INTERVAL;
    const params = { progressToken, progress: fraction, total: 1, message };
    // A client that went away is noticed elsewhere.
    request.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}
