/** `open`: the explorer, a page in the browser on which every object can be opened. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { undoUnfinished } from "../../attach/unfinished.js";
import type { Dumps, OpenSettings } from "../../explorer/dumps.js";
import type { Taking } from "../../explorer/taking.js";
import { givenAddress } from "../../units.js";
import { reason } from "../../whole_file.js";
import { inspectorOption } from "../attaching.js";
import { showInBrowser } from "../browser.js";
import { foundIn, isFolder, sayFound } from "../found_dumps.js";
import { addHostOptions, checkHost, type HostOptions } from "../host_options.js";
import { interruptibly } from "../interruption.js";
import { writeNote, writeWarning } from "../messages.js";
import {
  addContainerOptions,
  fileArgument,
  fileName,
  type ReadingOptions,
  reading,
  wasmOption,
} from "../options.js";
import { writeText } from "../output.js";
import { duration, wholeNumber } from "../quantities.js";

interface ExplorerOptions extends ReadingOptions, HostOptions {
  wasm?: string;
  before?: string;
  profile?: string;
  strings: boolean;
  port: number;
  browser: boolean;
  attach?: string;
  watch?: string;
  every: number;
  instance?: number;
  folder?: string;
  inspector?: boolean;
}

/** The time between two dumps of a program that is watched, in milliseconds. */
const INTERVAL = 60_000;

export function addCommand(program: Command): void {
  const command = program
    .command("open")
    .description("look at dumps in the browser: every object can be opened")
    .addArgument(
      fileArgument(
        "[dump|folder...]",
        "heap dumps, coredumps or heap snapshots in the order in which they were taken, or folders of them",
      ).argParser((text, earlier?: string[]) => [...(earlier ?? []), fileName(text)]),
    )
    .addOption(wasmOption())
    .option("-b, --before <file>", "an earlier dump, to compare with", fileName)
    .option(
      "--profile <file>",
      "a heap profile of the moment of the last dump, heap.pb.gz",
      fileName,
    )
    .option("--no-strings", "leave out the contents of strings")
    .option(
      "--attach <target>",
      "let the page take dumps of this running program: a process id or the address of an inspector",
      target,
    )
    .option("--watch <target>", "the same, and take dumps again and again", target)
    .addOption(
      new Option("--every <time>", "with --watch: the time between two dumps: 10s, 5m, 1h")
        .argParser(duration)
        .default(INTERVAL, "1m"),
    )
    .option(
      "--instance <n>",
      "which instance of the program, by its number in attach --list",
      wholeNumber(0),
    )
    .addOption(inspectorOption())
    .option(
      "--folder <folder>",
      "with --attach or --watch: keep the dumps that are taken, and the module, in this folder",
      fileName,
    )
    .addOption(
      new Option("--port <n>", "the port on 127.0.0.1").argParser(port).default(0, "a free one"),
    )
    .option("--no-browser", "only print the address")
    .option("--force", "continue although a dump was not taken from the module")
    .option("--partial", "if a heap is damaged, show the part before the damage");
  addHostOptions(addContainerOptions(command)).action(runOpen);
}

function target(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("Expected a process id or the address of an inspector.");
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Expected a whole number from 0 to 65535.");
}

async function runOpen(paths: string[], options: ExplorerOptions): Promise<void> {
  // The server is loaded only when it is needed.
  const { Answerer } = await import("../../explorer/answers.js");
  const { Dumps } = await import("../../explorer/dumps.js");
  const { dumpFile, givenDumps, watchFolders } = await import("../../explorer/files.js");
  const { serveExplorer } = await import("../../explorer/server.js");
  const { before, strings } = options;
  const program = programOf(options);
  const { places, wasm } = await placesToOpen(paths, options);
  if (paths.length === 0 && program === undefined) {
    throw new Error("open: expected a dump, a folder, --attach or --watch");
  }
  const { files, folders, known } =
    paths.length === 0
      ? { files: [], folders: [], known: new Set<string>() }
      : await givenDumps(places, wasm);
  const named = [...files.map(({ path }) => path), ...(before === undefined ? [] : [before])];
  checkOfHost(options, named, folders);
  const dumps = new Dumps(
    settingsOf(options, files.length + folders.length + (before === undefined ? 0 : 1)),
  );
  const handles: string[] = [];
  if (before !== undefined) handles.push(dumps.add(await dumpFile(before, wasm), true));
  for (const file of files) handles.push(dumps.add(file));
  const profile = options.profile === undefined ? undefined : profileOf(options.profile);
  if (profile !== undefined) dumps.profiled = handles.at(-1) ?? null;
  const answerer = new Answerer(dumps, strings, profile);
  const taking = program === undefined ? undefined : await takingOf(program, options, dumps);
  if (taking !== undefined) answerer.take = () => taking.take();
  const stop = new AbortController();
  // The program that started this one has ended, such as an editor.
  process.once("disconnect", () => process.exit());
  // The listener alone would keep this one running after a failure.
  process.channel?.unref();
  await interruptibly(
    async () => {
      stop.abort();
      void dumps.close();
      const undone = undoUnfinished();
      taking?.close();
      await undone;
    },
    async () => {
      try {
        const server = await serveExplorer(answerer, options.port);
        // The page has nothing to show before.
        if (taking !== undefined && files.length === 0) await firstDump(taking);
        writeText(`${server.url}\n`);
        if (options.browser) showInBrowser(server.url);
        for (const handle of handles) await dumps.read(handle);
        const { failures, dumps: read } = dumps.status();
        for (const { name, message } of failures) {
          writeWarning(message.includes(name) ? message : `${name}: ${message}`);
        }
        if (read.length === 0 && folders.length === 0) {
          await server.close();
          throw new Error("open: none of the dumps can be read");
        }
        const appear = async (path: string) => {
          try {
            await dumps.read(dumps.add(await dumpFile(path, wasm)));
          } catch (error) {
            dumps.fail(path, error);
          }
        };
        if (options.watch !== undefined) void taking?.takeAtIntervals(options.every, stop.signal);
        if (folders.length > 0) await watchFolders(folders, known, stop.signal, appear);
        else await new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
      } finally {
        taking?.close();
      }
    },
  );
}

/** A single folder is where its dumps lie, with their module: they may be in a folder below it. */
async function placesToOpen(paths: string[], { wasm, host }: ExplorerOptions) {
  const [folder] = paths;
  if (paths.length !== 1 || folder === undefined || host !== undefined || !isFolder(folder)) {
    return { places: paths, wasm };
  }
  const found = await foundIn(folder, wasm).catch((error: Error) => error);
  if (found instanceof Error) {
    // Dumps may still appear there. That there are several is a question.
    if (!found.message.includes("has no dumps")) throw found;
    writeNote(`${folder} has no dumps yet: the page shows those that appear`);
    return { places: paths, wasm };
  }
  sayFound(found);
  return { places: [dirname(found.dumps[0] ?? folder)], wasm: found.module };
}

/** Refuses options of the host that have no effect, or with which it would be unclear whose host it is. */
function checkOfHost(options: ExplorerOptions, dumps: string[], folders: string[]): void {
  const { host, attach, watch } = options;
  if (host !== undefined && (folders.length > 0 || attach !== undefined || watch !== undefined)) {
    throw new Error(
      "option '--host <file>' goes with one dump: not with a folder, --attach or --watch",
    );
  }
  checkHost(options, dumps);
}

/** The running program of which dumps may be taken. */
function programOf({ attach, watch, folder, inspector }: ExplorerOptions): string | undefined {
  if (attach !== undefined && watch !== undefined) {
    throw new Error("open: expected either --attach or --watch, because --watch allows both");
  }
  if (folder !== undefined && attach === undefined && watch === undefined) {
    throw new Error("open: --folder needs --attach or --watch, which take the dumps that it keeps");
  }
  if (inspector && attach === undefined && watch === undefined) {
    throw new Error("open: --inspector needs --attach or --watch");
  }
  return attach ?? watch;
}

async function takingOf(
  target: string,
  { instance, folder, inspector = false }: ExplorerOptions,
  dumps: Dumps,
): Promise<Taking> {
  const { Taking } = await import("../../explorer/taking.js");
  dumps.canTake = true;
  const end = folder === undefined ? "they are removed at the end" : `they stay in ${folder}`;
  writeNote(`dumps of the running program contain its memory, including its secrets; ${end}`);
  return new Taking({ target, instance, folder, inspector }, dumps);
}

async function firstDump(taking: Taking): Promise<void> {
  const { warnings } = await taking.take();
  for (const warning of warnings) writeWarning(warning);
}

/** How dumps are read, for the API. */
function settingsOf(options: ExplorerOptions, count: number): OpenSettings {
  if (count > 1 && options.global !== undefined) {
    throw new Error("open: the values of --global are those of one dump, and several are given");
  }
  const { raw, instance, hostRoots = [], ...tolerance } = reading(options);
  const named = hostRoots.map(({ name, value }) => [name || givenAddress(value), value]);
  const settings = {
    ...tolerance,
    ...(instance === undefined ? {} : { coredumpInstance: instance }),
    ...(named.length === 0 ? {} : { hostRoots: Object.fromEntries(named) }),
    ...hostSettings(options),
  };
  if (raw === undefined) return settings;
  const globals = Object.fromEntries(raw.map(({ name, value }) => [name, value]));
  return { ...settings, raw: true, globals };
}

/** How the heap of the host is joined, for the API. */
function hostSettings({ host, numbers, handles, slot }: HostOptions): Partial<OpenSettings> {
  if (host === undefined) return {};
  return {
    host,
    slots: slot ?? [],
    ...(numbers === undefined ? {} : { numbers }),
    ...(handles === undefined ? {} : { handles }),
  };
}

function profileOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`cannot read the profile ${path}: ${reason(error)}`, { cause: error });
  }
}
