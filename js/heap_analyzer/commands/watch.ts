/** `watch`: takes dumps of a running program again and again, and shows what grows while it happens. */
import { setTimeout } from "node:timers/promises";
import { type Command, Option } from "commander";
import { undoUnfinished } from "../../attach/unfinished.js";
import type * as native from "../../native.js";
import { formatSize } from "../../units.js";
import type { Capture, Captures } from "../../watch/captures.js";
import { KeptTables } from "../../watch/kept_tables.js";
import type { StartedProgram } from "../../watch/program.js";
import { type AttachingOptions, addAttachingOptions, attaching } from "../attaching.js";
import { interruptibly } from "../interruption.js";
import { writeNote } from "../messages.js";
import { fileName } from "../options.js";
import { placeTables } from "../place_tables.js";
import { duration, LONGEST_TIMER, percent, size, wholeNumber } from "../quantities.js";
import { FEW_DUMPS, WatchDisplay } from "../watch_display.js";

interface WatchOptions extends AttachingOptions {
  command?: boolean;
  every: number;
  cost: number;
  count?: number;
  warmup: number;
  slow?: boolean;
  limit: number;
  instance?: number;
  folder?: string;
  keep: number;
  max?: number;
  onGrowFailure?: boolean;
  output?: string;
  exitCode?: boolean;
}

/** How much of the program's time dumps may take by default, in percent. */
const COST = 5;
/** How often a program that was started is looked at until it has an instance, and the milliseconds in between. */
const TRIES = 60;
const BETWEEN_TRIES = 200;
/** The exit code with `--exit-code`, as that of `check`. */
const GROWN = 2;

export function addCommand(program: Command): void {
  const command = program
    .command("watch")
    .description("take dumps of a running program again and again, and show what grows")
    .argument("<target...>", "a process id or the address of an inspector, as for attach")
    .option("--command", "start the target: -- node <script> <arguments>")
    .addOption(
      new Option("--every <time>", "the time between two dumps: 500ms, 10s, 5m, 1h")
        .argParser(duration)
        .default(60_000, "1m"),
    )
    .option(
      "--cost <percent>",
      "how much of the program's time dumps may take; slow dumps are taken less often",
      percent,
      COST,
    )
    .option("--count <n>", "end after n dumps (default: when the program ends)", wholeNumber(1))
    .option("--warmup <n>", "leave out the first n dumps, in which caches fill", wholeNumber(0), 1)
    .option("--slow", "also report what rises only in every second interval")
    .option("-n, --limit <n>", "show at most n places", wholeNumber(1), 5)
    .option("--instance <n>", "which instance, by its number in attach --list", wholeNumber(0))
    .option("--folder <folder>", "keep the last dumps, and the module, in this folder", fileName)
    .option("--keep <n>", "how many dumps to keep there", wholeNumber(1), 20)
    .option(
      "--max <size>",
      "with --folder: end when the memory is larger than this, with the dump of that: 256MiB",
      size,
    )
    .option(
      "--on-grow-failure",
      "with --command and --folder: write a dump when a trap ends the program",
    )
    .option("-o, --output <file>", "also write what grows to this file, after each dump", fileName)
    .option("--exit-code", `end with ${GROWN} if a place grew, or the memory is larger than --max`)
    .action(runWatch);
  addAttachingOptions(command);
}

async function runWatch(words: string[], options: WatchOptions): Promise<void> {
  checkOptions(words, options);
  // The package for connections is loaded only when it is needed.
  const { startProgram } = await import("../../watch/program.js");
  const dumpAtTrap = options.onGrowFailure ? options.folder : undefined;
  const program = options.command ? startProgram(words, dumpAtTrap) : undefined;
  await interruptibly(
    () => {
      program?.stop();
    },
    async () => {
      try {
        const target = program === undefined ? (words[0] as string) : await program.url;
        await watch(target, program, options);
      } finally {
        program?.stop();
      }
    },
  );
}

function checkOptions(words: string[], options: WatchOptions): void {
  const { command, count, exitCode, folder, max, onGrowFailure, warmup } = options;
  if (exitCode && count !== undefined) checkEnough(count - warmup);
  if (!command && words.length > 1) {
    throw new Error("watch: expected one target, or --command before the words of a command");
  }
  if (max !== undefined && folder === undefined) {
    throw new Error("--max needs --folder, in which the dump stays");
  }
  if (onGrowFailure && !(command && folder !== undefined)) {
    throw new Error(
      "--on-grow-failure needs --command and --folder: a program that runs already cannot be prepared for it",
    );
  }
}

/** With fewer dumps, the exit code would always be 0. */
function checkEnough(counted: number): void {
  if (counted >= FEW_DUMPS) return;
  throw new Error(
    `--exit-code needs ${FEW_DUMPS} dumps or more after the warm-up, to tell growth from chance: found ${Math.max(0, counted)}`,
  );
}

async function watch(
  target: string,
  program: StartedProgram | undefined,
  options: WatchOptions,
): Promise<void> {
  const { every, cost, count = Number.POSITIVE_INFINITY, instance, folder, keep } = options;
  const { Captures } = await import("../../watch/captures.js");
  const end =
    folder === undefined ? "each is removed when it was read" : `the last stay in ${folder}`;
  writeNote(`dumps contain the program's memory, including its secrets; ${end}`);
  const captures = new Captures({
    target,
    instance,
    folder,
    keep,
    attaching: attaching(options),
  });
  const kept = new KeptTables<native.PlaceTableHandle>(options.warmup);
  const display = new WatchDisplay(options);
  const ended = new AbortController();
  const { signal } = ended;
  void program?.ended.then(() => ended.abort());
  let isTooLarge = false;
  await interruptibly(
    async () => {
      const undone = undoUnfinished();
      captures.close();
      await undone;
    },
    async () => {
      try {
        for (let number = 1; number <= count && !signal.aborted; number++) {
          const capture =
            number === 1 && program !== undefined
              ? await firstCapture(captures, target, signal)
              : await nextCapture(captures, target, number > 1);
          if (capture === undefined) break;
          kept.add(capture.read);
          await display.show(number, capture, kept);
          isTooLarge = exceeds(capture, options.max);
          if (isTooLarge) break;
          const pause = Math.max(every, (100 / cost) * capture.stopped);
          if (number < count) await delay(Math.min(pause, LONGEST_TIMER), signal);
        }
      } finally {
        captures.close();
      }
    },
  );
  await display.end(kept);
  if (!options.exitCode) return;
  if (!isTooLarge) checkEnough(kept.counted);
  if (isTooLarge || display.hasGrown) process.exitCode = GROWN;
}

/** Whether the memory is larger than the most that is allowed. Says so. */
function exceeds({ memorySize, dump }: Capture<unknown>, max: number | undefined): boolean {
  if (max === undefined || memorySize <= max) return false;
  writeNote(
    `the memory has ${formatSize(memorySize)}, more than the ${formatSize(max)} of --max: ${dump}`,
  );
  return true;
}

/** Waits for this time in milliseconds, or until the signal. */
async function delay(time: number, signal: AbortSignal): Promise<void> {
  await setTimeout(time, undefined, { signal }).catch(() => {});
}

/** The first dump of a program that was started: it may not have made its instance yet. */
async function firstCapture(captures: Captures, target: string, signal: AbortSignal) {
  let isNotThere: unknown;
  for (let nth = 0; nth < TRIES && !(nth > 0 && signal.aborted); nth++) {
    try {
      return await nextCapture(captures, target, false);
    } catch (error) {
      if ((error as { code?: string }).code === "ERR_MEMORY_MISSING") isNotThere = error;
      else if (isNotThere === undefined || !(await hasEnded(target))) throw error;
      else break;
      await delay(BETWEEN_TRIES, signal);
    }
  }
  throw isNotThere;
}

/** The next dump as a place table; undefined if the program has ended. */
async function nextCapture(captures: Captures, target: string, mayHaveEnded: boolean) {
  try {
    return await captures.next(async (dump, wasm) => {
      const [table] = await placeTables([dump], [wasm], {});
      return table as native.PlaceTableHandle;
    });
  } catch (error) {
    if (mayHaveEnded && (await hasEnded(target))) return undefined;
    throw error;
  }
}

async function hasEnded(target: string): Promise<boolean> {
  return await (await import("../../watch/program.js")).hasEnded(target);
}
