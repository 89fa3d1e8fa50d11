// Modules that know the way of calls to each allocation: with interval 1, their profiles are those of modules for which
// the engine's stack is captured at each allocation.

import { beforeAll, expect, test } from "vitest";
import { createProfiler, instrument, type Profiler } from "../dist/profile.js";
import { runCompiler } from "./support/compile.ts";
import { decoded } from "./support/pprof.ts";

interface Program {
  allocate(number: number): void;
  recursive(depth: number): void;
  indirect(number: number): void;
  throughHost(number: number): void;
  failing(number: number): void;
  drop(): void;
  __collect(): void;
}

const modules = new Map<string, Uint8Array>();
beforeAll(async () => {
  for (const level of ["-O0", "-O3"]) {
    const { wasm } = await runCompiler(
      ["__test__/programs/profile/contexts.ts", "--debug", level],
      {},
    );
    modules.set(level, new Uint8Array(wasm));
  }
});

interface Instrumented {
  contexts: boolean;
  hostCallers?: boolean;
  interval?: number;
  /** Is called for each allocation of which the host is told. */
  counted?: () => void;
}

/** An instance of the program, whose `host` calls it again from one of two lines. */
function started(level: string, options: Instrumented) {
  const { contexts, hostCallers = true, interval = 1, counted } = options;
  const program = instrument(modules.get(level) as Uint8Array, { contexts });
  const profiler = createProfiler(program, { interval, hostCallers });
  const called: { host: (number: number) => void } = { host: () => {} };
  const imports = {
    env: {
      abort: () => {
        throw new Error("the program aborted");
      },
    },
    contexts: { host: (number: number) => called.host(number) },
    ...profiler.imports,
  };
  if (counted !== undefined) {
    const own = profiler.imports.warpo_heap_analyzer_profile;
    const allocated: typeof own.allocated = (...values) => {
      counted();
      return own.allocated(...values);
    };
    imports.warpo_heap_analyzer_profile = { ...own, allocated };
  }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(program.wasm), imports);
  profiler.attach(exports);
  return { profiler, called, program: exports as unknown as Program };
}

/** The same without contexts and with them, from one line. */
function both(level: string, options: Partial<Instrumented>) {
  const made = [false, true].map((contexts) => started(level, { ...options, contexts }));
  return made as [ReturnType<typeof started>, ReturnType<typeof started>];
}

/** All stacks with their figures. */
const stacks = (profiler: Profiler) =>
  decoded(profiler.heapProfile())
    .samples.map(({ stack, values }) => [...stack, values.join(" ")].join("\n"))
    .sort();

/** Calls everything from several lines. */
function work({ program, called }: ReturnType<typeof started>): void {
  const failed = (run: () => void) => {
    try {
      run();
    } catch {
      // It is meant to.
    }
  };
  called.host = (number) => {
    if (number > 4) throw new Error("the host failed");
    if (number > 0) program.allocate(number);
    else program.indirect(number);
    if (number === 2) program.throughHost(1);
  };
  for (let number = 0; number < 40; number++) {
    program.allocate(number);
    program.recursive(number % 9);
    program.indirect(number);
    program.indirect(number + 1);
    failed(() => program.throughHost(number % 6));
    program.allocate(number);
    failed(() => program.failing(number % 6));
    program.allocate(number);
    if (number % 10 === 9) {
      program.drop();
      program.__collect();
    }
  }
}

test.each([
  ["-O0", true],
  ["-O0", false],
  ["-O3", true],
  ["-O3", false],
])("asc %s: the same stacks and figures; with functions of the host: %s", (level, hostCallers) => {
  const [captured, known] = both(level, { hostCallers });
  // From the same lines.
  for (const one of [captured, known]) work(one);
  const expected = stacks(captured.profiler);
  expect(expected.length).toBeGreaterThan(hostCallers ? 60 : 15);
  expect(stacks(known.profiler)).toEqual(expected);
  expect(known.profiler.totals()).toEqual(captured.profiler.totals());
  // What was recorded before is not lost, and counts once.
  for (const one of [captured, known]) work(one);
  expect(stacks(known.profiler)).toEqual(stacks(captured.profiler));
});

test("the same samples with a larger interval", () => {
  const [captured, known] = both("-O3", { interval: 512 });
  for (const one of [captured, known]) work(one);
  expect(stacks(known.profiler)).toEqual(stacks(captured.profiler));
});

test.each([
  [false, 10_000, Number.POSITIVE_INFINITY],
  [true, 1, 200],
])(
  "contexts %s: the host is called for at least %s and at most %s of 10,000 allocations",
  (contexts, least, most) => {
    let calls = 0;
    const { program } = started("-O3", { contexts, counted: () => calls++ });
    for (let nth = 0; nth < 10_000; nth++) program.allocate(nth);
    expect(calls).toBeGreaterThanOrEqual(least);
    expect(calls).toBeLessThanOrEqual(most);
  },
);
