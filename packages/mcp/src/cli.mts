#!/usr/bin/env node
/** Starts a server: MCP on the standard streams, with `serve` JSON-RPC there or over HTTP on this machine. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { parseArgs } from "node:util";
import { errorText, QuestionError } from "../../../js/served/errors.ts";
import { MOST_CHARACTERS } from "./answers.mts";
import { Asker } from "./ask.mts";
import { Heaps } from "./heaps.mts";
import { serveHttp } from "./http.mts";
import { serveJsonRpc } from "./json_rpc.mts";
import { serveMcp } from "./mcp.mts";
import { questions } from "./questions/index.mts";
import { Roots } from "./roots.mts";
import { Targets } from "./targets.mts";
import { version } from "./version.mts";

/** Editors read pages of thousands of entries. */
const EDITOR_CHARACTERS = 1_000_000;
/** Milliseconds for work that was stopped to end. */
const LONGEST_END = 2000;

const HELP = `Usage: warpo-heap-analyzer-mcp --root <folder>... [options]
       warpo-heap-analyzer-mcp serve --stdio --root <folder>... [options]
       warpo-heap-analyzer-mcp serve --http --root <folder>... [options]

Answers questions about heap dumps of WebAssembly programs and about
heap snapshots of V8: for agents over the Model Context Protocol on the standard streams, with serve
--stdio for editors over JSON-RPC 2.0, with serve --http for pages of a browser
on this machine over the same, at an address with a secret token that it prints.

Options:
  --root <folder>           read only files in this folder and below (repeatable)
  --wasm <file>             the module of dumps for which none is named
  --export-folder <folder>  allow exports, into this folder
  --attach <target>         allow dumps of this running program: a process id or
                            the address of an inspector (repeatable). They go
                            into the export folder; without one, they are
                            removed at the end
  --inspector               with --attach: open the inspector of a Node process
                            by the signal SIGUSR1, and close it afterwards
  --memory <size>           bytes of all open heaps together, as in 2GiB
                            (default: half of the machine's memory)
  --characters <n>          characters of an answer, 2000 or more (default: ${MOST_CHARACTERS}, with serve
                            ${EDITOR_CHARACTERS})
  --port <n>                the port of serve --http (default: a free one)
  -v, --version             print the version
  -h, --help                print this help
`;

const UNITS: Record<string, number> = { "": 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      root: { type: "string", multiple: true },
      wasm: { type: "string" },
      "export-folder": { type: "string" },
      attach: { type: "string", multiple: true },
      inspector: { type: "boolean" },
      memory: { type: "string" },
      characters: { type: "string" },
      stdio: { type: "boolean" },
      http: { type: "boolean" },
      port: { type: "string" },
      version: { type: "boolean", short: "v" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (values.version) return void process.stdout.write(`${version}\n`);
  const [command, ...others] = positionals;
  const isForEditors = command === "serve";
  if ((command !== undefined && !isForEditors) || others.length > 0) {
    throw usage(`unknown argument ${others[0] ?? command}`);
  }
  if (isForEditors && (values.stdio === true) === (values.http === true)) {
    throw usage("serve needs either --stdio or --http");
  }
  const port = portOf(values.port);
  const { root: folders = [], attach: names } = values;
  if (folders.length === 0 && names === undefined) {
    throw usage("--root is missing: name the folder with the dumps and the modules");
  }
  if (values.inspector && names === undefined) throw usage("--inspector needs --attach");
  const exportFolder = folderOf(values["export-folder"]);
  const targets =
    names === undefined ? undefined : new Targets(names, exportFolder, values.inspector === true);
  const roots = new Roots(folders, targets?.folder);
  // Editors show the classes first, and may ask for nothing else.
  const heaps = new Heaps(roots, memoryOf(values.memory), !isForEditors);
  const context = {
    roots,
    wasm: values.wasm,
    exportFolder,
    targets,
  };
  const most = isForEditors ? EDITOR_CHARACTERS : MOST_CHARACTERS;
  const asker = new Asker(charactersOf(values.characters, most));
  const asked = questions(exportFolder !== undefined, targets !== undefined);
  const served = { asked, asker, heaps, context };
  if (!isForEditors) await serveMcp(served);
  else if (values.http !== true) await serveJsonRpc(served);
  else await serveHttp(served, port, interrupted(), (url) => process.stdout.write(`${url}\n`));
  heaps.close();
}

/** Ends the process when nothing is left to do, and soon if some work does not stop, such as a read that hangs. */
function endSoon(): void {
  setTimeout(() => process.exit(), LONGEST_END).unref();
}

/** A signal that comes with Ctrl-C and with a request to end. */
function interrupted(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  return stop.signal;
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw usage(`--port: found ${text}; expected a whole number from 0 to 65535`);
  }
  return Number(text);
}

function memoryOf(text: string | undefined): number {
  if (text === undefined) return totalmem() / 2;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?) ?([KMG]iB)?$/.exec(text) ?? [];
  if (number === undefined) throw usage(`--memory: found ${text}; expected a size such as 2GiB`);
  return Number(number) * (UNITS[unit] as number);
}

function charactersOf(text: string | undefined, most: number): number {
  if (text === undefined) return most;
  if (!/^\d{4,7}$/.test(text) || Number(text) < 2000) {
    throw usage(`--characters: found ${text}; expected a whole number from 2000 to 9999999`);
  }
  return Number(text);
}

function folderOf(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw usage(`--export-folder: ${path} is not a folder`);
  }
  return realpathSync(path);
}

function usage(message: string): QuestionError {
  return new QuestionError("ERR_USAGE", `${message} (--help lists the options)`);
}

run()
  .catch((error) => {
    process.stderr.write(`error: ${errorText(error)}\n`);
    process.exitCode = 1;
  })
  .finally(endSoon);
