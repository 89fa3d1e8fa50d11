/** Serves profiles as Go programs do, so that Pyroscope, Parca and `go tool pprof` collect from it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type CallProfile, encode, type SampleValues } from "./heap_profile.js";

/** What the handler serves. */
export interface ServedProfiles {
  /** What was allocated until now. */
  now(): SampleValues | Promise<SampleValues>;
  /** A profile of allocations; since a moment, if there is one. */
  heap(defaultType: HeapType, since?: SampleValues): Uint8Array | Promise<Uint8Array>;
  /** The same as text. */
  heapText(since?: SampleValues): string | Promise<string>;
  cpu(milliseconds: number): Promise<Uint8Array>;
  /** Waits for so long, or until the program ends. */
  wait(milliseconds: number): Promise<unknown>;
}

/** The type of a heap profile that tools show first. */
export type HeapType = "inuse_space" | "alloc_space";

/** The seconds of a CPU profile if the request has none, as in Go. */
const SECONDS = 30;
const MOST_SECONDS = 300;

/** Profiles of Go programs that collectors ask for by default, of which a module has nothing. */
const EMPTY: Record<string, CallProfile["sampleTypes"]> = {
  block: [
    ["contentions", "count"],
    ["delay", "nanoseconds"],
  ],
  goroutine: [["goroutine", "count"]],
  mutex: [
    ["contentions", "count"],
    ["delay", "nanoseconds"],
  ],
  threadcreate: [["threadcreate", "count"]],
};

const PROFILES: Record<string, string> = {
  allocs:
    "what was allocated since the start; ?seconds=10: during these seconds; ?debug=1: as text",
  block: "empty",
  cmdline: "the command line of the process",
  goroutine: "empty",
  heap: "what is in use; ?seconds=10: the change during these seconds; ?debug=1: as text",
  mutex: "empty",
  profile: "where time is spent during ?seconds=30",
  threadcreate: "empty",
};

/** An answer other than 200, with a text that says why. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function urlOf({ url = "/" }: IncomingMessage): URL {
  const base = "http://localhost";
  if (!URL.canParse(url, base)) throw new Refusal(400, `expected a path, found ${url}`);
  return new URL(url, base);
}

/** The value of `seconds`; undefined if the request has none. */
function secondsOf({ searchParams }: URL): number | undefined {
  const text = searchParams.get("seconds");
  if (text === null) return undefined;
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MOST_SECONDS) return seconds;
  throw new Refusal(
    400,
    `seconds: expected a number above 0, up to ${MOST_SECONDS}, found ${text}`,
  );
}

function empty(sampleTypes: CallProfile["sampleTypes"]): Uint8Array {
  return encode({
    sampleTypes,
    defaultSampleType: (sampleTypes[0] as [string, string])[0],
    periodType: sampleTypes[0] as [string, string],
    period: 1,
    timeNanos: Date.now() * 1e6,
    durationNanos: 0,
    program: "",
    comments: ["A module has no such profile."],
    locations: [],
    samples: [],
  });
}

function index(): string {
  const rows = Object.entries(PROFILES).map(
    ([name, what]) => `<tr><td><a href="${name}">${name}</a></td><td>${what}</td></tr>`,
  );
  const style = "<style>td { padding: 0.2em 1em }</style>";
  return `<!doctype html><title>/debug/pprof/</title>${style}<table>${rows.join("")}</table>\n`;
}

/** The answer to a request. */
async function answer(url: URL, served: ServedProfiles): Promise<Uint8Array | string> {
  const name = url.pathname.replace(/\/$/, "").split("/").at(-1) as string;
  const seconds = secondsOf(url);
  if (name === "pprof" || name === "") return index();
  if (name === "cmdline") return process.argv.join("\0");
  if (name === "profile") return served.cpu(1000 * (seconds ?? SECONDS));
  const types = EMPTY[name];
  if (types !== undefined) return empty(types);
  if (name !== "heap" && name !== "allocs") {
    const known = Object.keys(PROFILES).map((one) => `/debug/pprof/${one}`);
    throw new Refusal(404, `no profile ${url.pathname}; the profiles are ${known.join(", ")}`);
  }
  let since: SampleValues | undefined;
  if (seconds !== undefined) {
    since = await served.now();
    await served.wait(1000 * seconds);
  }
  if (Number(url.searchParams.get("debug")) > 0) return served.heapText(since);
  return served.heap(name === "heap" ? "inuse_space" : "alloc_space", since);
}

export function handlerOf(served: ServedProfiles) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = "text/plain; charset=utf-8";
    try {
      const url = urlOf(request);
      if (request.method !== "GET" && request.method !== "HEAD") {
        throw new Refusal(405, `expected GET, found ${request.method}`);
      }
      const content = await answer(url, served);
      const name = url.pathname.replace(/\/$/, "").split("/").at(-1);
      const isText = typeof content === "string";
      response.writeHead(200, {
        "content-type": !isText
          ? "application/octet-stream"
          : content.startsWith("<")
            ? "text/html; charset=utf-8"
            : text,
        ...(isText ? {} : { "content-disposition": `attachment; filename="${name}.pb.gz"` }),
        "content-length": isText ? Buffer.byteLength(content) : content.length,
      });
      response.end(request.method === "HEAD" ? undefined : content);
    } catch (error) {
      response.writeHead(error instanceof Refusal ? error.status : 500, { "content-type": text });
      response.end(`${(error as Error).message}\n`);
    }
  };
}
