/** `profile`: runs a program and writes profiles of it. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { RunServer, ServerAddress } from "../../profile/run_server.js";
import type { Profiler } from "../../profile.js";
import { reason } from "../../whole_file.js";
import { fileArgument, fileName } from "../options.js";
import { write } from "../output.js";
import { wholeNumber } from "../quantities.js";

interface ProfileOptions {
  heap?: string;
  cpu?: string;
  interval: number;
  pprofAddr?: ServerAddress;
  sourceMap?: string;
  symbols?: string;
  invoke?: string;
  dir: string[];
  env: Record<string, string>;
}

/** The imports of a module by name. */
interface ModuleImport {
  module: string;
  name: string;
  kind: string;
}

// The types of `WebAssembly` are not part of the library that this project compiles with.
declare const WebAssembly: {
  Module: {
    new (wasm: Uint8Array): object;
    imports(module: object): ModuleImport[];
  };
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
  Memory: new () => { readonly buffer: ArrayBuffer };
};

const INTERVAL = 512 * 1024;

export function addCommand(program: Command): void {
  program
    .command("profile")
    .description("run a WASI or self-contained program, and write profiles for pprof")
    .addArgument(fileArgument("<program>", "the module to run"))
    .argument("[args...]", "arguments of the program; after -- if they begin with a dash")
    .option("--heap <file>", "write what was allocated and what is in use: heap.pb.gz", fileName)
    .option("--cpu <file>", "write where the time was spent: cpu.pb.gz", fileName)
    .option(
      "--pprof-addr <[host]:port>",
      "serve both at http://<host>:<port>/debug/pprof/ while the program runs (default host: 127.0.0.1)",
      serverAddress,
    )
    .option(
      "--interval <bytes>",
      "the mean number of bytes between two samples; 1 records every allocation",
      wholeNumber(1),
      INTERVAL,
    )
    .option(
      "--source-map <file>",
      "the source map (default: <program>.map if there is one)",
      fileName,
    )
    .option(
      "--symbols <file>",
      "names of functions: the .symbols file or the JavaScript that Emscripten wrote",
      fileName,
    )
    .option("--invoke <export>", "the function to call (default: _start, or main)")
    .addOption(
      new Option("--dir <guest=host>", "a folder that a WASI program may use")
        .argParser(folders)
        .default([], "none"),
    )
    .addOption(
      new Option(
        "--env <name[=value]>",
        "a variable that a WASI program sees, with the value given or that of this process",
      )
        .argParser(variables)
        .default({}, "none"),
    )
    .action(runProfile);
}

function serverAddress(text: string): ServerAddress {
  const [, inBrackets, plain, digits] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65535) {
    throw new InvalidArgumentError("Expected a host and a port: 127.0.0.1:6060.");
  }
  return { host: inBrackets ?? (plain || "127.0.0.1"), port };
}

function folders(text: string, earlier: string[]): string[] {
  if (!/^[^=]+=.+$/.test(text)) {
    throw new InvalidArgumentError(
      "Expected the folder in the program and the one here: /data=./data.",
    );
  }
  return [...earlier, text];
}

function variables(text: string, earlier: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined) {
    throw new InvalidArgumentError("Expected a variable's name, or its name and value: TZ=UTC.");
  }
  const found = value ?? process.env[name];
  if (found === undefined) {
    throw new InvalidArgumentError(`The variable ${name} is not set: expected ${name}=<value>.`);
  }
  return { ...earlier, [name]: found };
}

async function runProfile(file: string, args: string[], options: ProfileOptions): Promise<void> {
  const { heap, cpu, interval, pprofAddr, symbols, sourceMap = `${file}.map` } = options;
  if (heap === undefined && cpu === undefined && pprofAddr === undefined) {
    throw new Error(
      "expected --heap <file>, --cpu <file>, or both: where to write the profiles; or --pprof-addr <host:port>",
    );
  }
  const map =
    options.sourceMap !== undefined || existsSync(sourceMap)
      ? read("source map", sourceMap).toString()
      : undefined;
  // Loaded now, because `--help` needs no binary.
  const { createProfiler, instrument } =
    require("../../profile.js") as typeof import("../../profile.js");
  const program = instrument(read("program", file), {
    sourceMap: map,
    symbols: symbols === undefined ? undefined : read("names of functions", symbols).toString(),
    // A server answers at samples, of which the module would record most by itself.
    contexts: interval === 1 && pprofAddr === undefined,
  });
  // The functions of this tool that call the program are not part of it.
  const name = basename(file);
  const profiler = createProfiler(program, { interval, name, hostCallers: false });
  const server = await serverOf(pprofAddr, profiler, name);
  try {
    await runProgram(file, args, options, profiler, server);
  } finally {
    await server?.close();
  }
}

/** Starts the server of `--pprof-addr`, and says where it is. */
async function serverOf(
  address: ServerAddress | undefined,
  profiler: Profiler,
  name: string,
): Promise<RunServer | undefined> {
  if (address === undefined) return undefined;
  const { RunServer } =
    require("../../profile/run_server.js") as typeof import("../../profile/run_server.js");
  const server = await RunServer.start(address, profiler, name);
  process.stderr.write(`profiles: ${server.url}\n`);
  return server;
}

async function runProgram(
  file: string,
  args: string[],
  options: ProfileOptions,
  profiler: Profiler,
  server: RunServer | undefined,
): Promise<void> {
  const { heap, cpu } = options;
  const { work, memoryBytes } = prepared(file, args, options, profiler, server);
  const bytesBefore = memoryBytes();
  let failure: unknown;
  const run = () => {
    try {
      work();
    } catch (error) {
      // The profile of a program that fails is of use, too.
      failure = error;
    }
  };
  if (cpu === undefined) run();
  else await write([Buffer.from(await profiler.cpuProfile({ work: run }))], cpu);
  if (heap !== undefined) await write([Buffer.from(profiler.heapProfile())], heap);
  if (failure !== undefined) {
    throw new Error(`${file} failed after ${described(profiler)}: ${reason(failure)}`, {
      cause: failure,
    });
  }
  if (heap !== undefined) checkAllocated(profiler, memoryBytes() - bytesBefore);
}

/**
 * Says that a program called no function that reports allocations.
 *
 * @throws if it took memory nevertheless
 */
function checkAllocated(profiler: Profiler, grown: number): void {
  if (profiler.totals().objects > 0) return;
  const names = profiler.program.allocators.join(", ");
  if (grown > 0) {
    throw new Error(
      `no allocation was recorded, but the program's memory grew by ${grown} bytes: it allocates with other ` +
        `functions than those that were found (${names})`,
    );
  }
  process.stderr.write(`note: no allocation was recorded: the program called none of ${names}\n`);
}

function described(profiler: Profiler): string {
  const { objects, bytes } = profiler.totals();
  return `${objects} allocations of ${bytes} bytes, which the profiles contain`;
}

/** What runs a program, and the size of its memory. */
interface Prepared {
  work: () => void;
  memoryBytes: () => number;
}

/** Instantiates the program. */
function prepared(
  file: string,
  args: string[],
  options: ProfileOptions,
  profiler: Profiler,
  server: RunServer | undefined,
): Prepared {
  const module = new WebAssembly.Module(profiler.program.wasm);
  const imported = WebAssembly.Module.imports(module).filter(
    ({ module }) => !(module in profiler.imports),
  );
  const version = imported.find(({ module }) => module.startsWith("wasi_"))?.module;
  const others = imported.filter(({ module, name }) => {
    return module !== version && !(module === "env" && name === "abort");
  });
  if (others.length > 0) {
    const names = others.slice(0, 5).map(({ module, name }) => `${module}.${name}`);
    throw new Error(
      `${file} imports ${names.join(", ")}${others.length > 5 ? " and more" : ""}: expected imports of WASI ` +
        "only; run it in its host with createProfiler of @warpo/heap-analyzer/profile",
    );
  }
  const abort = () => {
    throw new Error("the program aborted");
  };
  const preopens = Object.fromEntries(
    options.dir.map((text) => text.split("=", 2) as [string, string]),
  );
  const wasi =
    version === undefined
      ? undefined
      : new (wasiClass())({
          version: version === "wasi_unstable" ? "unstable" : "preview1",
          args: [file, ...args],
          env: options.env,
          preopens,
          returnOnExit: true,
        });
  const wasiImports = wasi?.wasiImport as Record<string, unknown> | undefined;
  const served = server === undefined ? wasiImports : server.answering(wasiImports ?? {});
  const instance = new WebAssembly.Instance(module, {
    env: { abort },
    ...profiler.imports,
    ...(version === undefined ? {} : { [version]: served }),
  });
  profiler.attach(instance.exports);
  const memory = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Memory);
  return {
    work: workOf(file, args, options, instance, wasi),
    memoryBytes: () => (memory as { buffer: ArrayBuffer } | undefined)?.buffer.byteLength ?? 0,
  };
}

/** What runs an instance. */
function workOf(
  file: string,
  args: string[],
  options: ProfileOptions,
  instance: { exports: Record<string, unknown> },
  wasi: InstanceType<typeof import("node:wasi").WASI> | undefined,
): () => void {
  const { exports } = instance;
  const invoked =
    options.invoke ?? ["_start", "main", "_initialize"].find((name) => name in exports);
  if (wasi !== undefined && invoked === "_start") {
    return () => {
      process.exitCode = Number(wasi.start(instance)) || 0;
    };
  }
  if (wasi !== undefined && invoked !== undefined)
    wasi.initialize({ exports: { memory: exports.memory } });
  if (invoked === undefined) return () => {};
  const run = exports[invoked];
  if (typeof run !== "function") {
    throw new Error(
      `${file} exports no function ${invoked}: pass --invoke with one that it exports`,
    );
  }
  return () => {
    run(...args.map(Number));
  };
}

/** Node warns that WASI may change, for each process that loads it. */
function wasiClass(): typeof import("node:wasi").WASI {
  const { emitWarning } = process;
  try {
    process.emitWarning = () => {};
    return (require("node:wasi") as typeof import("node:wasi")).WASI;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function read(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read the ${what} ${file}: ${reason(error)}`, { cause: error });
  }
}
