/** Where a program spends its time, from the engine's own sampling of the process. */
import { type Profiler as EngineProfiler, Session } from "node:inspector";
import { setTimeout as wait } from "node:timers/promises";
import type { CallProfile } from "./heap_profile.js";
import { encode } from "./heap_profile.js";
import type { Frame, InstrumentedModule } from "./program.js";

/** The microseconds between two samples. */
const INTERVAL = 1000;

/** States of the engine that are no functions. */
const NOT_RUNNING = new Set(["(idle)", "(program)"]);

export interface CpuProfileInfo {
  program: InstrumentedModule;
  name: string;
  /** How far all code moved after it was instrumented. */
  shift: number;
  /** The script of the instrumented module, if it is known. */
  script: string | undefined;
  /** Whether stacks contain the functions of the host that call the program. */
  hostCallers: boolean;
}

/**
 * Samples the process until the work is done, or for some milliseconds. `info` is read afterwards, so that the work can
 * complete it. A thread of the process can connect to the main thread to sample that.
 */
export async function cpuProfile(
  info: CpuProfileInfo,
  work: (() => unknown) | number,
  connect: (session: Session) => void = (session) => session.connect(),
): Promise<Buffer> {
  const session = new Session();
  connect(session);
  const post = <T>(method: string, parameters?: object) =>
    new Promise<T>((resolve, reject) => {
      session.post(method, parameters, (error, result) =>
        error === null ? resolve(result as T) : reject(error),
      );
    });
  try {
    await post("Profiler.enable");
    await post("Profiler.setSamplingInterval", { interval: INTERVAL });
    await post("Profiler.start");
    if (typeof work === "number") await wait(work);
    else await work();
    const { profile } = await post<EngineProfiler.StopReturnType>("Profiler.stop");
    return encode(converted(profile, info));
  } finally {
    session.disconnect();
  }
}

interface CallNode {
  frame: EngineProfiler.ProfileNode["callFrame"];
  parent: number | undefined;
  samples: number;
  microseconds: number;
}

function converted(profile: EngineProfiler.Profile, info: CpuProfileInfo): CallProfile {
  const nodes = new Map<number, CallNode>();
  for (const { id, callFrame } of profile.nodes) {
    nodes.set(id, { frame: callFrame, parent: undefined, samples: 0, microseconds: 0 });
  }
  for (const { id, children } of profile.nodes) {
    for (const child of children ?? []) {
      const node = nodes.get(child);
      if (node !== undefined) node.parent = id;
    }
  }
  const { samples = [], timeDeltas = [] } = profile;
  for (const [nth, id] of samples.entries()) {
    const node = nodes.get(id) as CallNode;
    node.samples += 1;
    // The time until the next sample.
    node.microseconds += Math.max(0, timeDeltas[nth + 1] ?? 0);
  }
  const located = new Located(info);
  const taken = [...nodes.values()].filter(
    ({ frame, samples }) => samples > 0 && !NOT_RUNNING.has(frame.functionName),
  );
  const stacks = taken.map((node) => {
    const frames = [];
    for (let at: CallNode | undefined = node; at !== undefined; at = parentOf(nodes, at)) {
      if (at.frame.functionName !== "(root)") frames.push(at.frame);
    }
    const own = info.hostCallers ? frames : withoutCallers(frames);
    return { node, stack: own.map((frame) => located.number(frame)) };
  });
  const shown = stacks.filter(({ stack }) => stack.length > 0);
  return {
    sampleTypes: [
      ["samples", "count"],
      ["cpu", "nanoseconds"],
      ["wasm", "nanoseconds"],
    ],
    defaultSampleType: "cpu",
    periodType: ["cpu", "nanoseconds"],
    period: INTERVAL * 1000,
    timeNanos: Date.now() * 1e6,
    durationNanos: Math.round((profile.endTime - profile.startTime) * 1000),
    program: info.name,
    comments: ["wasm: the time within the module, without functions of the host that it calls"],
    locations: located.symbolized(),
    samples: shown.map(({ node, stack }) => {
      const time = Math.round(node.microseconds * 1000);
      return { stack, values: [node.samples, time, isWasm(node.frame) ? time : 0] };
    }),
  };
}

/** A stack without the functions of the host that call the program. The collector of the engine has no caller. */
function withoutCallers(frames: CallNode["frame"][]): CallNode["frame"][] {
  const isKept = (frame: CallNode["frame"]) =>
    isWasm(frame) || frame.functionName === "(garbage collector)";
  let end = frames.length;
  while (end > 0 && !isKept(frames[end - 1] as CallNode["frame"])) end--;
  return frames.slice(0, end);
}

function parentOf(nodes: Map<number, CallNode>, { parent }: CallNode): CallNode | undefined {
  return parent === undefined ? undefined : nodes.get(parent);
}

function isWasm({ url }: { url: string }): boolean {
  return url.startsWith("wasm://");
}

/** Numbers the frames of the engine, and names those of the module from its symbols. */
class Located {
  readonly #info: CpuProfileInfo;
  readonly #numbers = new Map<string, number>();
  readonly #frames: CallNode["frame"][] = [];

  constructor(info: CpuProfileInfo) {
    this.#info = info;
  }

  number(frame: CallNode["frame"]): number {
    const { functionName, url, lineNumber, columnNumber } = frame;
    const key = `${functionName}\n${url}\n${lineNumber}\n${columnNumber}`;
    const number = this.#numbers.get(key) ?? this.#frames.push(frame) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  symbolized(): Frame[][] {
    const { program, script, shift } = this.#info;
    const isOwn = (frame: CallNode["frame"]) =>
      isWasm(frame) && (script === undefined || frame.url === script);
    // In a module the column is the offset in the file.
    const offsets = this.#frames.map(({ columnNumber }) => Math.max(0, columnNumber - shift));
    const symbols = program.symbolize(offsets);
    return this.#frames.map((frame, nth) => {
      if (isOwn(frame)) return symbols[nth] as Frame[];
      const name = frame.functionName === "" ? "(anonymous)" : frame.functionName;
      return [{ function: name, file: frame.url, line: Math.max(0, frame.lineNumber + 1) }];
    });
  }
}
