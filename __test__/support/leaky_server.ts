/**
 * The example server as files to analyze: compiled with stock `asc` and the project's transform, run
 * without a clock or a random number, so that every byte of the dumps is the same on every machine.
 *
 * The files are kept in `build/`, under a name that changes with everything that goes into them.
 */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { exposeGlobals, writeDump } from "../../dist/capture.js";
import { runCompiler } from "./compile.ts";

export interface LeakyServer {
  /** The folder with `server.wasm`, `before.dump` and `after.dump`. */
  folder: string;
  wasm: string;
  before: string;
  after: string;
}

/** The exports of the server. */
export interface ServerExports {
  serve(requests: number): void;
  __collect(): void;
}

const ROOT = resolve(__dirname, "../..");
const EXAMPLE = join(ROOT, "examples/leaky-server");
const SOURCE = "assembly/server.ts";

/** The files, built if they are not there yet. */
export async function leakyServer(): Promise<LeakyServer> {
  const folder = join(ROOT, "build", `leaky-server-${inputsHash()}`);
  const files = {
    folder,
    wasm: join(folder, "server.wasm"),
    before: join(folder, "before.dump"),
    after: join(folder, "after.dump"),
  };
  if (!existsSync(folder)) {
    // Test files run in parallel, so the folder must be complete from the moment it is there.
    const unfinished = `${folder}.${process.pid}`;
    mkdirSync(unfinished, { recursive: true });
    await build(unfinished);
    try {
      renameSync(unfinished, folder);
    } catch {
      cpSync(unfinished, folder, { recursive: true });
    }
  }
  return files;
}

/** A running server whose memory can be captured. */
export async function startServer(wasm: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Exports> {
  const env = {
    abort() {
      throw new Error("the server aborted");
    },
  };
  const { instance } = await WebAssembly.instantiate(exposeGlobals(wasm), { env });
  return instance.exports;
}

async function build(folder: string): Promise<void> {
  const options = { baseDir: EXAMPLE, transform: true };
  const { wasm } = await runCompiler([SOURCE, "--debug"], options);
  writeFileSync(join(folder, "server.wasm"), wasm);
  const exports = await startServer(new Uint8Array(wasm));
  const server = exports as unknown as ServerExports;
  for (const [dump, requests] of [
    ["before.dump", 40],
    ["after.dump", 120],
  ] as const) {
    server.serve(requests);
    server.__collect();
    writeDump(exports, join(folder, dump));
  }
}

function inputsHash(): string {
  const hash = createHash("sha256").update(readFileSync(join(EXAMPLE, SOURCE)));
  hash.update(readFileSync(join(ROOT, "node_modules/assemblyscript/package.json")));
  hash.update(readFileSync(__filename));
  const transform = join(ROOT, "dist/asc_transform");
  for (const file of readdirSync(transform).sort())
    hash.update(readFileSync(join(transform, file)));
  return hash.digest("hex").slice(0, 16);
}
