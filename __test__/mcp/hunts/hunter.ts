/**
 * A client that hunts a leak and knows nothing but the descriptions of the tools and the answers. It picks each tool by
 * what its description says it is for, and takes every argument from an answer.
 */
import type { Tool } from "@modelcontextprotocol/client";
import { charactersOf, type Session, type Structured, textOf } from "../client.ts";

/** What a tool is for, in words of its description. */
const START = /Start here/;
const OPEN = /returns for each a handle/;
const FIRST_QUESTION = /first question about a leak/;
const WHY = /Why is it alive/;

/** The most suspects that it looks into. */
const MOST_SUSPECTS = 5;

/** What a hunt cost. */
export interface Hunt {
  calls: number;
  /** Of requests and answers. The list of the tools is not counted: a client reads it once. */
  characters: number;
  /** The rank of the suspect that is the leak, from 1 on; `undefined` if none is. */
  rank: number | undefined;
}

/** Hunts, and asks why each suspect is alive, until one of them is the planted leak. */
export async function hunt(session: Session, planted: RegExp): Promise<Hunt> {
  const { tools } = await session.client.listTools();
  let [calls, characters] = [0, 0];
  const ask = async (purpose: RegExp, args: Record<string, unknown>) => {
    const { name, inputSchema } = toolFor(tools, purpose);
    for (const argument of Object.keys(args)) {
      if (inputSchema.properties?.[argument] === undefined) {
        throw new Error(`the tool ${name} has no argument ${argument}`);
      }
    }
    const result = await session.client.callTool({ name, arguments: args });
    if (result.isError) throw new Error(textOf(result));
    calls++;
    characters += JSON.stringify(args).length + charactersOf(result);
    return { text: textOf(result), content: result.structuredContent as Structured };
  };
  const { dumps: listed } = (await ask(START, {})).content;
  // Newest first, as the description says; all dumps in the order in which they were taken, as that of the next says.
  const dumps = listed.map(({ path }: { path: string }) => path).reverse();
  const { heaps } = (await ask(OPEN, { dumps })).content;
  const [before, heap] = heaps.map((one: { heap: string }) => one.heap);
  const { suspects } = (await ask(FIRST_QUESTION, { heap, before })).content;
  for (const [nth, suspect] of suspects.slice(0, MOST_SUSPECTS).entries()) {
    const address = suspect.accumulation?.address ?? suspect.address;
    const why = await ask(WHY, { heap, address });
    if (planted.test(`${suspect.text}\n${why.text}`)) return { calls, characters, rank: nth + 1 };
  }
  return { calls, characters, rank: undefined };
}

/** The only tool whose description says that it is for this. */
function toolFor(tools: Tool[], purpose: RegExp): Tool {
  const found = tools.filter(({ description = "" }) => purpose.test(description));
  const [tool] = found;
  if (tool === undefined || found.length > 1) {
    throw new Error(`${found.length} tools say that they are for ${purpose}`);
  }
  return tool;
}
