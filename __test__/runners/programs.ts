/**
 * Test files for the runners: ten kinds of leaks, and work that leaves things only with the runner itself. Each is
 * JavaScript that works in ESM and in CommonJS.
 */

const NAMES = {
  "node:events": "EventEmitter",
  "node:stream": "PassThrough",
  "node:vm": "createContext",
  "@warpo/heap-analyzer/testing": "expectNoLeak",
};
const imports = (write: (names: string, from: string) => string) =>
  Object.entries(NAMES)
    .map(([from, names]) => write(names, from))
    .join("\n");
const ESM = imports((names, from) => `import { ${names} } from "${from}";`);
const COMMON_JS = imports((names, from) => `const { ${names} } = require("${from}");`);

/** A runner: how its tests are written, and the command that runs a file of tests. */
export interface Runner {
  name: string;
  /** The name of the file. */
  file: string;
  /** Imports, and `leakTest(name, body)`, which is a test with time for a leak test. */
  head: string;
  command: string[];
  /** Defines `use(round)`, which calls a mock and a spy of the runner, if it has any. */
  mocks: string;
}

const VITEST = ["node_modules/vitest/vitest.mjs", "run"];
const JEST = ["node_modules/jest/bin/jest.js", "--rootDir", "."];
const MOCHA = ["node_modules/mocha/bin/mocha.js"];

// A busy machine takes several times as long as usual.
const SETTINGS = "const LIMIT = 300_000;";
const THIRD_ARGUMENT = "const leakTest = (name, body) => test(name, body, LIMIT + 15_000);";
const NODE_TEST = "const leakTest = (name, body) => test(name, { timeout: LIMIT + 15_000 }, body);";
const CHAINED = "const leakTest = (name, body) => it(name, body).timeout(LIMIT + 15_000);";

/** A mock that returns an object, and a spy on a method. */
const mocks = (make: string, spy: string) => `
const mocked = ${make}((order) => ({ order }));
const target = { method: (order) => ({ order }) };
${spy}(target, "method");
function use(round) {
  for (let nth = 0; nth < 5; nth++) {
    mocked(new Order(round));
    target.method(new Order(round));
  }
}`;
const VITEST_MOCKS = mocks("vi.fn", "vi.spyOn");
const JEST_MOCKS = mocks("jest.fn", "jest.spyOn");
const NODE_MOCKS = mocks("mock.fn", "mock.method");
const NO_MOCKS = "function use() {}";

export const RUNNERS: Runner[] = [
  {
    name: "vitest",
    file: "test.test.mjs",
    head: `import { test, vi } from "vitest";\n${ESM}\n${SETTINGS}\n${THIRD_ARGUMENT}`,
    command: VITEST,
    mocks: VITEST_MOCKS,
  },
  {
    name: "jest",
    file: "test.test.cjs",
    head: `${COMMON_JS}\n${SETTINGS}\n${THIRD_ARGUMENT}`,
    command: JEST,
    mocks: JEST_MOCKS,
  },
  {
    name: "jest, ESM",
    file: "test.test.mjs",
    head: `import { jest } from "@jest/globals";\n${ESM}\n${SETTINGS}\n${THIRD_ARGUMENT}`,
    command: ["--experimental-vm-modules", ...JEST],
    mocks: JEST_MOCKS,
  },
  {
    name: "node:test",
    file: "test.cjs",
    head: `const { test, mock } = require("node:test");\n${COMMON_JS}\n${SETTINGS}\n${NODE_TEST}`,
    command: ["--test"],
    mocks: NODE_MOCKS,
  },
  {
    name: "node:test, ESM",
    file: "test.mjs",
    head: `import { test, mock } from "node:test";\n${ESM}\n${SETTINGS}\n${NODE_TEST}`,
    command: ["--test"],
    mocks: NODE_MOCKS,
  },
  {
    name: "mocha",
    file: "test.cjs",
    head: `${COMMON_JS}\n${SETTINGS}\n${CHAINED}`,
    command: MOCHA,
    mocks: NO_MOCKS,
  },
  {
    name: "mocha, ESM",
    file: "test.mjs",
    head: `${ESM}\n${SETTINGS}\n${CHAINED}`,
    command: MOCHA,
    mocks: NO_MOCKS,
  },
];

/** A leak: the code of a round, and the class that the answer must name. */
export interface Leak {
  round: string;
  named: string;
}

/** The classes that an answer names, one a line of what is printed. */
export function namedClasses(printed: string): Set<string> {
  return new Set(printed.match(/(?<=named: <).*?(?=>)/g));
}

export const LEAKS: Record<string, Leak> = {
  listener: { round: `const heard = new Heard(); bus.on("event", () => heard);`, named: "Heard" },
  timer: {
    round: `const polled = new Polled(); setInterval(() => polled, 1e9).unref();`,
    named: "Polled",
  },
  cache: { round: "cache.pages.push(new Page(round));", named: "Page" },
  closure: { round: "const held = new Held(); callbacks.push(() => held);", named: "Held" },
  map: { round: `visits.set("visit " + round, new Visit());`, named: "Visit" },
  promise: { round: "pending.push(new Promise(() => {}));", named: "Promise" },
  // A context is another root of paths, and everything else that grows counts as held by it.
  context: { round: "contexts.push(createContext({}));", named: "global" },
  symbol: { round: `Symbol.for("symbol " + round);`, named: "(symbol)" },
  "weak map": {
    round: "const key = { round }; keys.push(key); weak.set(key, new Weakly());",
    named: "Weakly",
  },
  stream: {
    round: `const stream = new PassThrough(); stream.write("x"); streams.push(stream);`,
    named: "PassThrough",
  },
};

const STATE = `
class Heard {} class Polled {} class Held {} class Visit {} class Weakly {}
class Page { constructor(round) { this.round = round; } }
class Order { constructor(round) { this.round = round; } }
const bus = new EventEmitter().setMaxListeners(0);
const cache = { pages: [] }, callbacks = [], visits = new Map(), pending = [], contexts = [];
const keys = [], weak = new WeakMap(), streams = [];`;

/** How many rounds are run, and how many tests of one kind are in a file. */
export interface Size {
  rounds: number;
  tests?: number;
}

/** Prints the classes of all that grows. The report has only the first of those that grow with others. */
const REPORT = `
const names = ({ answer }) => {
  const all = answer.places.flatMap(({ className, folded }) => [{ className }, ...folded]);
  return [...new Set(all.map(({ className }) => "named: <" + className + ">"))].join("\\n");
};`;

/** A file in which every leak has a test of its own. A round of a test that is given several leaks has all of them. */
export function leakingFile({ head }: Runner, tests: string[][], { rounds }: Size): string {
  const written = tests.map((kinds) => {
    const round = kinds.map((kind) => `{ ${LEAKS[kind]?.round} }`).join("\n");
    return `
leakTest(${JSON.stringify(kinds.join(", "))}, () => {
  const run = (round) => {\n${round}\n};
  return expectNoLeak({ run, rounds: ${rounds}, timeLimit: LIMIT }).catch((error) => {
    if (error.code === "ERR_LEAK") console.log(names(error));
    throw error;
  });
});`;
  });
  return `${head}${STATE}${REPORT}${written.join("")}`;
}

/** A file whose rounds leave things only with the runner: what mocks and spies record, and what is printed. */
export function steadyFile({ head, mocks }: Runner, { rounds, tests = 1 }: Size): string {
  return `${head}${STATE}${mocks}
async function run(round) {
  use(round);
  console.log("round", round, new Order(round));
  cache.pages = Array.from({ length: 100 }, () => new Page(round));
  await new Promise((resolve) => setTimeout(resolve, 1));
}
for (let nth = 1; nth <= ${tests}; nth++) {
  leakTest("steady " + nth, () => expectNoLeak({ run, rounds: ${rounds}, timeLimit: LIMIT }));
}`;
}
