/** The thread that serves the profiles of a program on the main thread; `run_server.ts` starts it. */

import { createServer, type Server } from "node:http";
import type { Session } from "node:inspector";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { cpuProfile } from "./cpu_profile.js";
import { handlerOf, Refusal, type ServedProfiles } from "./handler.js";
import type { SampleValues } from "./heap_profile.js";
import { InstrumentedModule } from "./program.js";
import type { Answered, ServerData, ServerEvent, ThreadRequest } from "./run_server.js";

/** How long a request waits until the program calls its host. */
const MOST_MILLISECONDS = 10_000;

const data = workerData as ServerData;
const waiting = new Int32Array(data.waiting);
const answers = new Map<number, (answered: Answered) => void>();
const ended = new AbortController();
let asked = 0;

data.messages.on("message", (answered: Answered) => {
  answers.get(answered.id)?.(answered);
  answers.delete(answered.id);
});

/** Asks the main thread, which answers when the program next calls its host. */
function ask(what: ThreadRequest): Promise<unknown> {
  const id = asked++;
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      const message = `the program neither called its host nor allocated a sample for ${MOST_MILLISECONDS / 1000} s: ask again later`;
      reject(new Refusal(503, message));
    }, MOST_MILLISECONDS);
    answers.set(id, ({ value, failure }) => {
      clearTimeout(late);
      if (failure === undefined) resolve(value);
      else reject(new Error(failure));
    });
    data.messages.postMessage({ ...what, id });
    Atomics.add(waiting, 0, 1);
  });
}

/** Waits for so long, or until the program ends. */
async function waitInRun(milliseconds: number): Promise<void> {
  try {
    await wait(milliseconds, undefined, { signal: ended.signal });
  } catch {
    // The program ended.
  }
}

/** Samples the main thread. */
async function cpu(milliseconds: number): Promise<Uint8Array> {
  const program = new InstrumentedModule(data.wasm, data.table, data.sourceMap);
  const info = {
    program,
    name: data.name,
    shift: 0,
    script: undefined as string | undefined,
    hostCallers: false,
  };
  // If the program does not say it in time, all modules of the process are taken for it.
  const script = ask({ what: "script" }).then(
    (found) => Object.assign(info, found),
    () => undefined,
  );
  const work = async () => {
    await waitInRun(milliseconds);
    await Promise.race([script, wait(100)]);
  };
  return cpuProfile(info, work, (session: Session) => session.connectToMainThread());
}

const served: ServedProfiles = {
  now: () => ask({ what: "now" }) as Promise<SampleValues>,
  heap: (defaultType, since) => ask({ what: "heap", defaultType, since }) as Promise<Uint8Array>,
  heapText: (since) => ask({ what: "heapText", since }) as Promise<string>,
  cpu,
  wait: waitInRun,
};

function tell(event: ServerEvent): void {
  parentPort?.postMessage(event);
}

/** Responses that are not sent yet. */
let open = 0;

/** After the end, closes connections that wait for no response, whether or not they sent a whole request. */
function closeUnused(): void {
  if (ended.signal.aborted && open === 0) server.closeAllConnections();
}

function listen(): Server {
  const handle = handlerOf(served);
  const server = createServer((request, response) => {
    open++;
    response.once("close", () => {
      open--;
      closeUnused();
    });
    return handle(request, response);
  });
  server.once("error", (error) => tell({ failure: error.message }));
  return server.listen(data.port, data.host, () => {
    const { address, family, port } = server.address() as AddressInfo;
    const host = family === "IPv6" ? `[${address}]` : address;
    tell({ listening: `http://${host}:${port}/debug/pprof/` });
  });
}

const server = listen();
parentPort?.on("message", () => {
  ended.abort();
  server.close(() => tell({ closed: true }));
  closeUnused();
});
