/** What a question is: the same for MCP tools and for the methods of JSON-RPC. */
import type { Heap } from "@warpo/heap-analyzer";
import type { JsonSchema } from "../../../js/option_facts.ts";
import type { FoundAnswer } from "./answers.mts";
import type { Control } from "./control.mts";
import type { Handles } from "./handles.mts";
import type { OpenHeap } from "./heaps.mts";
import type { Roots } from "./roots.mts";
import {
  count,
  described,
  type Fields,
  flag,
  list,
  nullable,
  type ObjectOf,
  object,
  text,
} from "./schema.mts";
import type { Targets } from "./targets.mts";

/** What answers are made from. */
export interface QuestionContext {
  roots: Roots;
  heaps: Handles;
  /** The module of dumps for which none is named. */
  wasm: string | undefined;
  /** The folder for exports. */
  exportFolder: string | undefined;
  /** The running programs of which dumps may be taken. */
  targets: Targets | undefined;
  control: Control;
}

/** A question with its types erased. */
export interface Question {
  name: string;
  title: string;
  /** What it answers, and when to ask it. */
  description: string;
  /** What the numbers of its answers are. */
  basis: string;
  input: JsonSchema;
  output: JsonSchema;
  /** Whether equal requests have equal answers, as long as the files are the same. */
  isRepeatable: boolean;
  ask(args: unknown, context: QuestionContext): Promise<FoundAnswer>;
  /** The answer in short, from a body that was cut. */
  render(body: Record<string, never>): string[];
}

interface Definition<I extends Fields, O extends Fields> {
  name: string;
  title: string;
  description: string;
  basis: string;
  input: I;
  output: O;
  /** Whether the answer has a page of a list. */
  isPaged?: boolean;
  isRepeatable?: boolean;
  ask(args: ObjectOf<I>, context: QuestionContext): Promise<FoundAnswer>;
  render(body: ObjectOf<O>): string[];
}

const PAGE = {
  page: object({
    total: count,
    offset: count,
    listed: count,
    next: described(nullable(count), "the offset of the next page"),
  }),
};

/** The fields that every answer ends with. */
export const END = {
  partial: flag,
  evidence: object({ numbers: text(), names: nullable(text()), basis: text() }),
  warnings: list(object({ code: text(), message: text() })),
  moreWarnings: count,
  truncated: list(object({ at: text(), listed: count, total: count })),
  moreTruncated: count,
};

export function question<I extends Fields, O extends Fields>(
  definition: Definition<I, O>,
): Question {
  const { input, output, isPaged = false, isRepeatable = true, ...rest } = definition;
  return {
    ...rest,
    isRepeatable,
    input: object(input),
    output: object({ ...output, ...(isPaged ? PAGE : {}), ...END }),
  } as unknown as Question;
}

/** Options for the analyzer's asynchronous work. */
export function watched({ control }: QuestionContext) {
  return {
    signal: control.signal,
    onProgress: ({ fraction, phase }: { fraction: number; phase: string }) =>
      control.progress(fraction, phase),
  };
}

/** Asks a question about a heap, and about an earlier one if there is a handle for it. */
export async function asking<T>(
  context: QuestionContext,
  { heap, before }: { heap: string; before?: string | undefined },
  ask: (heap: Heap, before: Heap | undefined) => Promise<T>,
): Promise<T> {
  const handles = before === undefined ? [heap] : [before, heap];
  return await context.heaps.use(handles, context.control, (open) =>
    ask(
      (open.at(-1) as OpenHeap).heap,
      before === undefined ? undefined : (open[0] as OpenHeap).heap,
    ),
  );
}
