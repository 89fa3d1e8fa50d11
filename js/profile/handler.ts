/** Serves profiles as Go programs do, so that Pyroscope, Parca and `go tool pprof` collect from it. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** What the handler serves. */
export interface Served {
  heapProfile(): Uint8Array;
  allocationProfile(): Uint8Array;
  cpuProfile(options: { milliseconds: number }): Promise<Uint8Array>;
}

/** The seconds of a CPU profile if the request has none, as in Go. */
const SECONDS = 30;
const MOST_SECONDS = 300;

export function handlerOf(profiler: Served) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const refuse = (status: number, message: string) => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
      response.end(`${message}\n`);
    };
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refuse(405, `expected GET, found ${request.method}`);
    }
    const text = url.searchParams.get("seconds");
    const seconds = text === null ? SECONDS : Number(text);
    if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
      return refuse(400, `seconds: expected a number above 0, up to ${MOST_SECONDS}`);
    }
    try {
      const name = url.pathname.replace(/\/$/, "").split("/").at(-1);
      let profile: Uint8Array;
      if (name === "heap") profile = profiler.heapProfile();
      else if (name === "allocs") profile = profiler.allocationProfile();
      else if (name === "profile") {
        profile = await profiler.cpuProfile({ milliseconds: 1000 * seconds });
      } else {
        const known = "/debug/pprof/heap, /debug/pprof/allocs, /debug/pprof/profile?seconds=30";
        return refuse(404, `no profile ${url.pathname}; the profiles are ${known}`);
      }
      response.writeHead(200, {
        "content-type": "application/octet-stream",
        "content-disposition": `attachment; filename="${name}.pb.gz"`,
        "content-length": profile.length,
      });
      response.end(request.method === "HEAD" ? undefined : profile);
    } catch (error) {
      refuse(500, (error as Error).message);
    }
  };
}
