/** `doctor`: one page about what grows: what holds it, where its class is, and the test that fails until it is mended. */
import type { Command } from "commander";
import type { GrowingPlace, GrowthAnswer } from "../../../answers.js";
import { formatSize } from "../../units.js";
import { addon } from "../addon.js";
import { inspectorOption } from "../attaching.js";
import { foundIn, isFolder, sayFound } from "../found_dumps.js";
import { wrapped, writeWarnings } from "../messages.js";
import { snapshotBeside } from "../next_command.js";
import { wasmOption } from "../options.js";
import { writeText } from "../output.js";
import { placeTables } from "../place_tables.js";
import { createProgram } from "../program.js";
import { wholeNumber } from "../quantities.js";
import { continued, near, shellWord, startedAs } from "../started_as.js";
import { outputWidth } from "../terminal.js";

interface DoctorOptions {
  wasm?: string;
  warmup?: number;
  every: string;
  inspector?: boolean;
}

/** Dumps that tell growth from chance, after those in which caches fill. */
const COUNTED = 8;
const WARMUP = 2;

export function addCommand(program: Command): void {
  program
    .command("doctor")
    .description("what grows, in one page: what holds it, where to look, and a test that fails")
    .argument("<folder|target>", "a folder of dumps, a process id, or the address of an inspector")
    .addOption(wasmOption())
    .option(
      "--warmup <n>",
      `leave out the first n dumps (default: ${WARMUP} of 10 or more)`,
      wholeNumber(0),
    )
    .option("--every <time>", "of a running program: the time between two dumps", "10s")
    .addOption(inspectorOption())
    .action(runDoctor);
}

async function runDoctor(target: string, options: DoctorOptions): Promise<void> {
  const folder = isFolder(target) ? target : await takenOf(target, options);
  const here = await foundIn(folder, options.wasm);
  const { dumps, module } = here;
  sayFound(here);
  const warmup = options.warmup ?? (dumps.length >= COUNTED + WARMUP ? WARMUP : 0);
  if (dumps.length - warmup < 2) {
    throw new Error(
      `doctor compares dumps, 8 or more after the warm-up: found ${dumps.length} in ${folder}; take one after each ` +
        "round of the same work",
    );
  }
  const modules = dumps.map(() => module);
  const tables = await placeTables(dumps, modules, {});
  const { growth, WorkControl } = addon();
  const answer = await growth(tables, JSON.stringify({ warmup }), undefined, new WorkControl());
  writeWarnings(answer.warnings);
  const found = JSON.parse(answer.text) as GrowthAnswer;
  const last = dumps.at(-1) as string;
  writeText(page(found, { last, module, again: target }));
  const [place] = ofProgram(found);
  const host = place?.path?.startsWith("pinned") ? snapshotBeside(last) : undefined;
  if (place === undefined || host === undefined || module === undefined) return;
  writeText("\nwho pinned it, in the JavaScript heap of the same moment:\n");
  const named = ["--class", place.className, "--limit", "1"];
  const args = ["paths", last, "--wasm", module, "--host", host, ...named];
  await createProgram("paths").parseAsync(["node", "warpo-heap-analyzer", ...args]);
}

/** Dumps of a running program, in a folder that stays. */
async function takenOf(target: string, { every, inspector }: DoctorOptions): Promise<string> {
  const folder = `doctor-${target.replace(/[^\w]+/g, "-")}`;
  const count = String(COUNTED + WARMUP);
  const how = ["--every", every, "--count", count, "--warmup", String(WARMUP), "--folder", folder];
  const args = ["watch", target, ...how, ...(inspector ? ["--inspector"] : [])];
  await createProgram("watch").parseAsync(["node", "warpo-heap-analyzer", ...args]);
  return folder;
}

/** What grows and is the program's: neither V8 nor Node keeps it for itself. */
function ofProgram({ places }: GrowthAnswer): GrowingPlace[] {
  const isOfRuntime = ({ className, path }: GrowingPlace) =>
    /^(\((?!raw)|system \/|node:)/.test(className) || /^Node's internals/.test(path ?? "");
  return places.filter((place) => !isOfRuntime(place));
}

interface Where {
  last: string;
  module: string | undefined;
  again: string;
}

function page(found: GrowthAnswer, { last, module, again }: Where): string {
  const counted = `${found.dumps.length - found.warmup} dumps`;
  const [place, ...others] = ofProgram(found);
  if (place === undefined) {
    const undecided = found.undecided.length;
    const doubt =
      undecided === 0 ? "" : ` ${undecided} grew at first and may have stopped: take more dumps.`;
    return `Nothing of the program grows over ${counted}.${doubt}\n`;
  }
  const wasm = module === undefined ? "" : ` --wasm ${shellWord(near(module))}`;
  const program = startedAs();
  const { source, fingerprint } = place;
  const lines = [
    `Something grows from dump to dump, over ${counted}: ${rate(place)}.`,
    ...heldBy(place),
    ...(source === undefined ? [] : [`Its class is at ${source.file}:${source.line}.`]),
    ...(others.length === 0 ? [] : [`${others.length} more places grow: growth lists them.`]),
    "",
    "the objects:",
    `${COMMAND}${program} find ${shellWord(near(last))}${wasm} --place ${fingerprint}`,
    "a test that fails until it is mended:",
    `  await expectNoLeak({ ${testOf(module)}run: () => theSameWork() });`,
    "after the mend, with new dumps, to confirm it:",
    `${COMMAND}${program} doctor ${shellWord(again)}`,
  ];
  return `${lines.map(fitting).join("\n")}\n`;
}

/** A line of the page for the terminal: commands are continued, sentences are wrapped. */
function fitting(line: string): string {
  const width = outputWidth();
  if (line.startsWith(COMMAND)) return continued(line.slice(COMMAND.length), width);
  return width === undefined || line === "" ? line : wrapped(line, width).trimEnd();
}

/** Begins a line that is to be copied. */
const COMMAND = "$ ";

/** A heap snapshot alone is tested in its own thread. */
const testOf = (module: string | undefined) =>
  module === undefined ? "" : `instance, wasm: ${JSON.stringify(near(module))}, `;

function rate({ className, perInterval: { count, retained } }: GrowingPlace): string {
  const objects = Number.isInteger(count) ? String(count) : count.toFixed(1);
  return `${objects} more ${className} each time, which keep ${formatSize(Math.max(0, Math.round(retained)))}`;
}

/** The root and the last reference of a path, each on a line. */
function heldBy({ path, label }: GrowingPlace): string[] {
  if (path === null) return label === null ? [] : [`They are at ${label}, on changing paths.`];
  const steps = path.split(" > ");
  const [root = "", ...rest] = steps.slice(0, -1);
  const holder = rest.find((step) => /\.|->|\[/.test(step));
  return [`Held by ${root}${holder === undefined ? "" : `, in ${holder}`}.`];
}
