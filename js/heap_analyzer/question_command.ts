/** The common part of the commands that ask a loaded heap a question. */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { OPENING } from "../generated/options.js";
import type * as native from "../native.js";
import type { OptionFacts } from "../option_facts.js";
import type { Asked } from "../questions.js";
import { reason } from "../whole_file.js";
import { addon } from "./addon.js";
import { checkHost, type HostOptions, hostFiles, openWithHost } from "./host_options.js";
import { checkInputs, dumpFile, moduleFile } from "./inputs.js";
import { writeDoubts } from "./messages.js";
import { type Next, nextCommand } from "./next_command.js";
import {
  addFactOptions,
  addOtherName,
  addSharedOptions,
  choiceOption,
  fileName,
  given,
  type ReadingOptions,
  reading,
  type SharedOptions,
} from "./options.js";
import { write } from "./output.js";
import { ProgressLine } from "./progress.js";
import { outputWidth } from "./terminal.js";

/** The options of every command that asks a question. */
export interface QuestionOptions extends Omit<SharedOptions, "wasm">, HostOptions {
  wasm?: string[];
  format: "text" | "json";
  /** Only of commands with {@link addProfileOption}. */
  profile?: string;
}

/** What `--wasm` is for a command that takes one dump. */
const ONE_MODULE = "the module that the dump was taken from; a .heapsnapshot needs none";
/** The same for a command that takes one dump or two. */
export const ONE_OR_TWO_MODULES =
  "the module that the dump was taken from; for dumps of two builds, give it twice, the earlier first; a .heapsnapshot needs none";
/** The same for a command that takes many. */
export const MANY_MODULES =
  "the module that the dumps were taken from; for dumps of several builds, once per dump in order; .heapsnapshot files need none";

/** Adds the options of {@link QuestionOptions}. */
export function addQuestionOptions(command: Command, modules = ONE_MODULE): Command {
  command
    .addOption(
      new Option("-w, --wasm <file>", modules).argParser((text, earlier?: string[]) => [
        ...(earlier ?? []),
        fileName(text),
      ]),
    )
    .addOption(
      choiceOption("-f, --format <format>", "human-readable text, or JSON", ["text", "json"], {
        table: "text",
      }).default("text"),
    );
  return addSharedOptions(command);
}

/** Adds `--profile`. */
export function addProfileOption(command: Command): Command {
  const { profile } = OPENING.open;
  return addFactOptions(command, { profile: profile as OptionFacts });
}

/** Accepts `--top` for `--limit`. */
export function addOtherLimit(command: Command): Command {
  return addOtherName(command, "--top <n>", "limit");
}

/** Opens the dumps, asks the question about the last one, and writes the answer. The first of two dumps is the earlier one. */
export async function runQuestion(
  dumps: string[],
  options: QuestionOptions,
  question: Asked["question"],
): Promise<void> {
  const modules = modulesOf(dumps, options.wasm);
  checkHost(options, dumps);
  checkInputs(
    given(...dumps, ...new Set(modules), ...hostFiles(options, dumps.at(-1) ?? "")),
    options.output,
  );
  const line = new ProgressLine();
  const control = new (addon().WorkControl)();
  const heaps = await line.watch(
    control,
    openAll(dumps, modules, options, control, options.profile),
  );
  const [heap, before] = heaps.reverse() as [native.HeapHandle, native.HeapHandle?];
  const next = nextCommand(dumps.at(-1), modules.at(-1), options);
  const answer = await asked(line, heap, question, before, { ...options, ...next });
  writeDoubts(answer.warnings);
  await write([Buffer.from(answer.text)], options.output);
}

/** The bytes of a profile. */
export function readProfile(profile: string): Buffer {
  try {
    return readFileSync(profile);
  } catch (error) {
    throw new Error(`cannot read the profile ${profile}: ${reason(error)}`, { cause: error });
  }
}

/** Opens dumps for questions, all at the same time. The profile, of every allocation, is of the last one. */
export async function openAll(
  dumps: readonly string[],
  modules: readonly (string | undefined)[],
  options: ReadingOptions & HostOptions,
  control: native.WorkControl,
  profile?: string,
): Promise<native.HeapHandle[]> {
  const requests: native.OpenData[] = dumps.map((_, nth) => reading(options, nth, dumps.length));
  const { host } = options;
  const last = requests.at(-1);
  if (last !== undefined && profile !== undefined) last.profile = readProfile(profile);
  if (host === undefined) return await openEach(dumps, modules, requests, control);
  const [dump, request] = [dumps[0] as string, requests[0] as native.OpenData];
  return [await openWithHost(dump, modules[0], { ...options, host }, request, control)];
}

/** Opens dumps for questions, each with its own options. */
export async function openEach(
  dumps: readonly string[],
  modules: readonly (string | undefined)[],
  requests: readonly native.OpenData[],
  control: native.WorkControl,
): Promise<native.HeapHandle[]> {
  const open = (dump: string, nth: number) => {
    const request = requests[nth] as native.OpenData;
    return addon().openHeap(dumpFile(dump, request), moduleFile(modules[nth]), request, control);
  };
  try {
    return await Promise.all(dumps.map(open));
  } catch (error) {
    // The others are not needed any more.
    control.cancel();
    throw error;
  }
}

/** Asks a question. */
export function asked(
  line: ProgressLine,
  heap: native.HeapHandle,
  question: Asked["question"],
  before: native.HeapHandle | undefined,
  { format, output, next }: Pick<QuestionOptions, "format" | "output"> & Next,
): Promise<native.AnswerData> {
  const { WorkControl } = addon();
  const control = new WorkControl();
  const text = format === "text" ? textOptions(output, next) : undefined;
  const answer = heap.askAsync(JSON.stringify(question), before, text, control);
  return line.watch(control, answer, "answering the question");
}

/** How an answer is rendered as text for an output. */
export function textOptions(
  output: string | undefined,
  next?: native.NextCommandData,
): native.TableData {
  const width = output === undefined ? outputWidth() : undefined;
  const isTerminal = output === undefined && process.stdout.isTTY === true;
  return {
    color: false,
    isTerminal,
    ...(width === undefined ? {} : { width }),
    ...(next === undefined ? {} : { next }),
  };
}

/** The module of each dump. */
export function modulesOf(dumps: string[], modules: string[] = []): (string | undefined)[] {
  if (modules.length === 0) return dumps.map(() => undefined);
  if (modules.length === 1) return dumps.map(() => modules[0] as string);
  if (modules.length === dumps.length) return modules;
  throw new Error(
    `option '-w, --wasm <file>' is given ${modules.length} times: expected it once` +
      (dumps.length > 1
        ? `, or once for each of the ${dumps.length} dumps, the earlier first`
        : ""),
  );
}
