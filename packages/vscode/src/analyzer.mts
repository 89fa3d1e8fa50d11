/** The analyzer, which runs in a process of its own: a crash of it leaves the editor as it was. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Method, Methods } from "../../../js/explorer/methods.js";

/** Characters of the process's messages that are kept: the last. */
const KEPT_MESSAGES = 4000;

/** What the analyzer opens, in the order in which it was taken. A folder stands for its dumps. */
export interface OpenRequest {
  paths: string[];
  /** Null for heap snapshots of V8. */
  module: string | null;
  before?: string | undefined;
  profile?: string | undefined;
  /** Whether of a damaged heap the part before the damage is shown. */
  isPartial?: boolean | undefined;
}

/** How a command of the analyzer ended. */
export interface Ended {
  code: number | null;
  output: string;
  /** What it said of its work, without its words for kinds of messages. */
  messages: string;
}

/** The arguments of the command that answers a page. */
export function openArguments({ paths, module, before, profile, isPartial }: OpenRequest) {
  return [
    "open",
    ...paths,
    ...(module === null ? [] : ["--wasm", module]),
    ...(before === undefined ? [] : ["--before", before]),
    ...(profile === undefined ? [] : ["--profile", profile]),
    ...(isPartial === true ? ["--partial"] : []),
    "--no-browser",
  ];
}

/** Runs a command of the analyzer to its end. */
export async function runAnalyzer(cli: string, args: string[]): Promise<Ended> {
  const child = start(cli, args);
  const messages = collected(child.stderr);
  const output = collected(child.stdout);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: output(), messages: plain(messages()) };
}

/** An analyzer that answers questions until it is stopped. */
export class Analyzer {
  /** Settles with its messages when it has ended. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #url: URL;
  #isStopped = false;

  private constructor(child: ChildProcess, url: URL, ended: Promise<string>) {
    this.#child = child;
    this.#url = url;
    this.ended = ended;
  }

  /** Starts it. An error has the messages of the process. */
  static async start(cli: string, request: OpenRequest): Promise<Analyzer> {
    const child = start(cli, openArguments(request));
    const messages = collected(child.stderr);
    const ended = new Promise<string>((resolve) => {
      child.once("close", (code, signal) => {
        const reason = signal ?? `code ${code}`;
        resolve(plain(messages()) || `The analyzer has ended (${reason}).`);
      });
      child.once("error", (error) => resolve(`The analyzer cannot start: ${error.message}`));
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    // The first line is the address.
    const first = once(lines, "line").then(([line]) => new URL(line as string));
    const url = await Promise.race([first, ended]);
    if (typeof url === "string") throw new Error(url);
    return new Analyzer(child, url, ended);
  }

  /** Whether it ended because it was stopped. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** The page, which asks through its host. */
  async page(): Promise<string> {
    return await (await fetch(this.#url)).text();
  }

  async ask<M extends Method>(
    method: M,
    params: Methods[M]["request"],
    signal?: AbortSignal,
  ): Promise<Methods[M]["answer"]> {
    const response = await fetch(new URL("/ask", this.#url), {
      method: "POST",
      headers: { Authorization: `Bearer ${this.#url.searchParams.get("token")}` },
      body: JSON.stringify({ method, params }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { result, error } = (await response.json()) as {
      result: Methods[M]["answer"];
      error?: { message: string };
    };
    if (error !== undefined) throw new Error(error.message);
    return result;
  }

  stop(): void {
    this.#isStopped = true;
    this.#child.kill();
  }
}

/** The process of a command. It ends when this process ends, because their channel closes then. */
function start(cli: string, args: string[]): ChildProcess {
  return fork(cli, args, {
    execArgv: [],
    // The editor's own program then runs scripts as Node does.
    env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

/** Collects the last part of a stream. */
function collected(stream: NodeJS.ReadableStream | null): () => string {
  let text = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (piece: string) => {
    text = (text + piece).slice(-KEPT_MESSAGES);
  });
  return () => text;
}

/** Messages of the command line without the words that say their kind, and without a last one that only counts them. */
function plain(messages: string): string {
  const all = messages.replace(/^(?:error|warning|note): /gm, "").trim();
  return all.replace(/\nopen: none of the dumps can be read$/, "");
}
