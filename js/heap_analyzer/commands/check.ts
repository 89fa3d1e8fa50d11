/** `check`: a gate for CI. Exit code 0: no rule is broken; 2: one is; 1: everything else. */
import { existsSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CheckAnswer } from "../../../index.js";
import { githubAnnotations } from "../../check/annotations.js";
import {
  type Accepted,
  acceptGrowth,
  baselineText,
  checkReasons,
  readBaseline,
} from "../../check/baseline.js";
import { inconclusive } from "../../check/inconclusive.js";
import { junit } from "../../check/junit.js";
import { markdown } from "../../check/markdown.js";
import { sarif } from "../../check/sarif.js";
import { COMPARISONS } from "../../generated/options.js";
import type * as native from "../../native.js";
import { addon } from "../addon.js";
import { dumpFiles } from "../dump_files.js";
import { checkInputs } from "../inputs.js";
import { writeNote, writeToStderr, writeWarnings } from "../messages.js";
import { nextCommand } from "../next_command.js";
import { addFactOptions, fileName, given } from "../options.js";
import { write } from "../output.js";
import { dumpsArgument, placeTables } from "../place_tables.js";
import { ProgressLine } from "../progress.js";
import { percents, size } from "../quantities.js";
import {
  addQuestionOptions,
  MANY_MODULES,
  modulesOf,
  type QuestionOptions,
  textOptions,
} from "../question_command.js";

interface CheckCommandOptions extends QuestionOptions {
  warmup?: number;
  slow?: boolean;
  strict?: boolean;
  minDumps?: number;
  default: boolean;
  maxGrowth?: Budget;
  maxLive?: number;
  max?: ClassBudget[];
  /** The classes of `--no-growth`; `true` without one. */
  growth: string[] | true;
  baseline?: string;
  updateBaseline?: boolean;
  report?: CheckReport[];
  annotations?: "github";
  allowWarnings?: boolean;
}

/** Bytes, or a part of the live size of the first dump. */
type Budget = { bytes: number } | { percent: number };

interface ClassBudget {
  class: string;
  count: number;
}

interface CheckReport {
  format: keyof typeof REPORTS;
  file: string;
}

/** Reports by the name that `--report` takes. */
const REPORTS = {
  junit: (answer: CheckAnswer, _module: string, seconds: number) => junit(answer, seconds),
  sarif: (answer: CheckAnswer, module: string) => sarif(answer, module, version),
  markdown: (answer: CheckAnswer) => markdown(answer),
};

const FORMATS = Object.keys(REPORTS);

const { version } = require("../../../package.json") as { version: string };

/** The exit code when a rule is broken. */
const BROKEN = 2;

/** Characters that are written at a time. */
const CHUNK = 1 << 16;

export function addCommand(program: Command): void {
  const { about, options } = COMPARISONS.check;
  const command = program.command("check").description(about).addArgument(dumpsArgument());
  addFactOptions(command, options, {
    maxGrowth: budget,
    maxLive: size,
    max: repeated(classBudget),
    noGrowth: repeated(className),
  });
  command
    .option("--baseline <file>", "accept the growing places that this file lists", fileName)
    .option("--update-baseline", "add the growing places to the baseline, with empty reasons")
    .addOption(
      new Option("--report <format=file>", `also write a report: ${FORMATS.join(", ")}`).argParser(
        repeated(report),
      ),
    )
    .addOption(
      new Option("--annotations <host>", "also write annotations to stderr").choices(["github"]),
    )
    .option("--allow-warnings", "decide even if a warning says that numbers may be wrong");
  addQuestionOptions(command, MANY_MODULES).action(runCheck);
}

async function runCheck(files: string[], options: CheckCommandOptions): Promise<void> {
  const started = performance.now();
  const { baseline, updateBaseline, report: reports = [], annotations, format, output } = options;
  const dumps = dumpFiles(files, { ...options, allowWarnings: options.allowWarnings ?? false });
  const modules = modulesOf(dumps, options.wasm);
  checkFiles(dumps, modules, options);
  const accepted = acceptedPlaces(options);
  const known = accepted.length;
  const tables = await placeTables(dumps, modules, options);
  const ask = checker(tables, options, accepted);
  let json = "";
  const check = async () => {
    json = await ask();
    return JSON.parse(json) as CheckAnswer;
  };
  let answer = await check();
  writeWarnings(answer.warnings);
  refuseInconclusive(answer, options);
  if (updateBaseline) {
    answer = await acceptGrowth(answer, accepted, check);
    await write([Buffer.from(baselineText(accepted))], baseline);
    const added = accepted.length - known;
    if (added > 0) writeNote(`${baseline} has ${added} new entries: fill in their reasons`);
  }
  const seconds = (performance.now() - started) / 1000;
  const module = shownModule((modules.at(-1) ?? dumps.at(-1)) as string);
  for (const { format, file } of reports) {
    await write(buffers(REPORTS[format](answer, module, seconds)), file);
  }
  const text =
    format === "json"
      ? json
      : await ask(textOptions(output, nextCommand(dumps.at(-1), modules.at(-1), options).next));
  await write([Buffer.from(text)], output);
  if (annotations === "github") {
    for (const line of githubAnnotations(answer, module)) writeToStderr(line);
  }
  if (!answer.passed) process.exitCode = BROKEN;
}

/** Refuses an output that is an input, or another output. */
function checkFiles(
  dumps: string[],
  modules: (string | undefined)[],
  options: CheckCommandOptions,
): void {
  const { baseline, updateBaseline, report: reports = [], output } = options;
  const inputs = given(...dumps, ...new Set(modules));
  const outputs = reports.map(({ file }) => file);
  if (output !== undefined) outputs.push(output);
  if (baseline !== undefined) (updateBaseline ? outputs : inputs).push(baseline);
  else if (updateBaseline) throw new Error("--update-baseline needs --baseline <file>");
  for (const [nth, output] of outputs.entries()) {
    checkInputs(inputs, output);
    if (outputs.slice(0, nth).some((other) => resolve(other) === resolve(output))) {
      throw new Error(`${output} would be written twice: choose another file`);
    }
  }
}

/** Refuses to decide on numbers that may be wrong. */
function refuseInconclusive(answer: CheckAnswer, { allowWarnings }: CheckCommandOptions): void {
  if (answer.partial) {
    throw new Error("the check is inconclusive: a dump was read only in part");
  }
  const codes = inconclusive(answer.warnings);
  if (codes.length > 0 && !allowWarnings) {
    throw new Error(
      `the check is inconclusive, because numbers may be wrong (${codes.join(", ")}): remove the cause, ` +
        "or pass --allow-warnings",
    );
  }
}

/** The places that the baseline accepts. */
function acceptedPlaces({ baseline, updateBaseline }: CheckCommandOptions): Accepted[] {
  if (baseline === undefined) return [];
  if (updateBaseline && !existsSync(baseline)) return [];
  const accepted = readBaseline(baseline);
  if (!updateBaseline) checkReasons(baseline, accepted);
  return accepted;
}

/** A check of these tables. It gives the answer as JSON, or as text for the output. */
function checker(
  tables: native.PlaceTableHandle[],
  options: CheckCommandOptions,
  accepted: Accepted[],
) {
  const { warmup, slow = false, strict = false, minDumps, maxGrowth, maxLive, max } = options;
  const { check, WorkControl } = addon();
  const line = new ProgressLine();
  return async (text?: native.TableData): Promise<string> => {
    const rules = {
      warmup,
      slow,
      strict,
      minDumps,
      noDefault: !options.default,
      maxGrowth,
      maxLive,
      max,
      noGrowth: options.growth === true ? undefined : options.growth,
      accepted: accepted.map(({ path, fingerprint, limit }) =>
        path === null ? { fingerprint, limit } : { path, limit },
      ),
    };
    const control = new WorkControl();
    const answer = check(tables, JSON.stringify(rules), text, control);
    return (await line.watch(control, answer, "comparing the dumps")).text;
  };
}

/** Parses a size, or a percentage of the live size. */
function budget(text: string): Budget {
  if (!text.endsWith("%")) return { bytes: size(text) };
  const percent = percents(text);
  if (percent >= 0) return { percent };
  throw new InvalidArgumentError("Expected a size or a percentage: 64KiB or 5%.");
}

function className(text: string): string {
  if (text === "") throw new InvalidArgumentError("Expected a class; * stands for any text.");
  return text;
}

/** Parses a class and a count. The names of functions contain `=`, so the last one counts. */
function classBudget(text: string): ClassBudget {
  const [, name, count] = /^(.+)=(\d+)$/s.exec(text) ?? [];
  if (name === undefined || !Number.isSafeInteger(Number(count))) {
    throw new InvalidArgumentError("Expected a class and a count: *Session=100.");
  }
  return { class: name, count: Number(count) };
}

function report(text: string): CheckReport {
  const [format = "", ...file] = text.split("=");
  if (!Object.hasOwn(REPORTS, format) || file.join("=") === "") {
    throw new InvalidArgumentError(`Expected a format and a file: ${FORMATS[0]}=report.xml.`);
  }
  return { format: format as CheckReport["format"], file: file.join("=") };
}

/** A parser of an option that can be given several times. */
function repeated<T>(parse: (text: string) => T) {
  // The earlier value of an option that begins with `--no-` is `true` if there is none.
  return (text: string, earlier?: unknown): T[] => [
    ...(Array.isArray(earlier) ? earlier : []),
    parse(text),
  ];
}

/** The module as it is called in the repository: as seen from the working directory, if it is in there. */
function shownModule(file: string): string {
  const fromHere = relative(process.cwd(), file);
  return fromHere.startsWith("..") || isAbsolute(fromHere) ? file : fromHere;
}

/** Joins small pieces of text to buffers. */
function* buffers(pieces: Iterable<string>): Generator<Buffer> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length > CHUNK) {
      yield Buffer.from(text);
      text = "";
    }
  }
  yield Buffer.from(text);
}
