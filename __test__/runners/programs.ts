/**
 * Test files for the runners: ten leaks, and work that leaves things only with the runner itself. The text of
 * each works in ESM and in CommonJS.
 */

/** What every program imports, as ESM and as CommonJS. */
const IMPORTS = {
  esm: `
  import { EventEmitter } from "node:events";
  import { PassThrough } from "node:stream";
  import { createContext } from "node:vm";
  import { expectNoLeak, TIME_LIMIT } from "@warpo/heap-analyzer/testing";`,
  commonJs: `
  const { EventEmitter } = require("node:events");
  const { PassThrough } = require("node:stream");
  const { createContext } = require("node:vm");
  const { expectNoLeak, TIME_LIMIT } = require("@warpo/heap-analyzer/testing");`,
};

/** A runner: how its tests are written, and how it is started in a folder with a file of tests. */
export interface Runner {
  name: string;
  file: string;
  head: string;
  command: string[];
  /** The body of a round that uses the runner's mocks and spies, which record it. */
  mocks: string;
}

const VITEST = ["node_modules/vitest/vitest.mjs", "run"];
const JEST = ["node_modules/jest/bin/jest.js", "--rootDir", "."];
const MOCHA = ["node_modules/mocha/bin/mocha.js"];

/** The parts of mocks and spies by runner; \`m\` makes one, \`s\` spies on a method. */
const mocks = (make: string, spy: string) => `
  const made = ${make};
  const target = { method(page) { return { page }; } };
  ${spy};
  const use = (round) => {
    for (let nth = 0; nth < 5; nth++) made(new Order(round)), target.method(new Order(round));
  };`;

const MOCKS = {
  vitest: mocks("vi.fn((page) => ({ page }))", 'vi.spyOn(target, "method")'),
  jest: mocks("jest.fn((page) => ({ page }))", 'jest.spyOn(target, "method")'),
  node: mocks("mock.fn((page) => ({ page }))", 'mock.method(target, "method")'),
  mocha: "const use = () => {};",
};

const { esm, commonJs } = IMPORTS;
const timed = (call: string) =>
  `const test = (name, body) => ${call.replace("LIMIT", "2 * TIME_LIMIT")};`;
const THIRD = (name: string) => timed(`${name}(name, body, LIMIT)`);
const NODE = timed("nodeTest(name, { timeout: LIMIT }, body)");
const IT = timed("it(name, body).timeout(LIMIT)");

export const RUNNERS: Runner[] = [
  {
    name: "vitest",
    file: "test.test.mjs",
    head: `import { test as vitestTest, vi } from "vitest"; ${esm} ${THIRD("vitestTest")}`,
    command: VITEST,
    mocks: MOCKS.vitest,
  },
  {
    name: "jest",
    file: "test.test.cjs",
    head: `${commonJs} const jestTest = globalThis.test; { ${""} } ${THIRD("it")}`,
    command: JEST,
    mocks: MOCKS.jest,
  },
  {
    name: "jest, ESM",
    file: "test.test.mjs",
    head: `import { jest } from "@jest/globals"; ${esm} ${THIRD("it")}`,
    command: ["--experimental-vm-modules", ...JEST],
    mocks: MOCKS.jest,
  },
  {
    name: "node:test",
    file: "test.cjs",
    head: `const { test: nodeTest, mock } = require("node:test"); ${commonJs} ${NODE}`,
    command: ["--test"],
    mocks: MOCKS.node,
  },
  {
    name: "node:test, ESM",
    file: "test.mjs",
    head: `import { test as nodeTest, mock } from "node:test"; ${esm} ${NODE}`,
    command: ["--test"],
    mocks: MOCKS.node,
  },
  {
    name: "mocha",
    file: "test.cjs",
    head: `${commonJs} ${IT}`,
    command: MOCHA,
    mocks: MOCKS.mocha,
  },
  {
    name: "mocha, ESM",
    file: "test.mjs",
    head: `${esm} ${IT}`,
    command: MOCHA,
    mocks: MOCKS.mocha,
  },
];

/** By kind of leak: the code of a round, and a class that the report must name. */
export const LEAKS: Record<string, { round: string; named: RegExp }> = {
  listener: { round: `const heard = new Heard(); bus.on("event", () => heard);`, named: /Heard|listener|system \/ Context|Function/ },
  timer: { round: `const polled = new Polled(); setInterval(() => polled, 1e9).unref();`, named: /Polled|Timeout/ },
  cache: { round: `cache.pages.push(new Page(round));`, named: /Page/ },
  closure: { round: `const enclosed = new Enclosed(); callbacks.push(() => enclosed);`, named: /Enclosed|callbacks/ },
  map: { round: `visits.set("visit " + round, new Visit());`, named: /Visit/ },
  promise: { round: `pending.push(new Promise(() => {}));`, named: /Promise/ },
  context: { round: `contexts.push(createContext({}));`, named: /context/i },
  symbol: { round: `Symbol.for("symbol " + round);`, named: /symbol/ },
  "weak map": { round: `const key = { round }; keys.push(key); weak.set(key, new Weakly());`, named: /Weakly|keys/ },
  stream: { round: `const stream = new PassThrough(); stream.write("x"); streams.push(stream);`, named: /PassThrough/ },
};

const STATE = `
  class Heard {} class Polled {} class Page { constructor(round) { this.round = round; } }
  class Enclosed {} class Visit {} class Weakly {} class Order { constructor(round) { this.round = round; } }
  const bus = new EventEmitter().setMaxListeners(0);
  const cache = { pages: [] }, callbacks = [], visits = new Map(), pending = [], contexts = [];
  const keys = [], weak = new WeakMap(), streams = [];`;

/** A test file with a test for each of some leaks. */
export function leakingFile({ head }: Runner, kinds: string[], options = ""): string {
  const tests = kinds.map(
    (kind) => `
  test(${JSON.stringify(kind)}, () => expectNoLeak({ ${options} run(round) { ${LEAKS[kind]?.round} } }));`,
  );
  return `${head}${STATE}${tests.join("")}`;
}

/** A test file whose rounds leave things with the runner: what mocks record, and what is printed. */
export function steadyFile({ head, mocks }: Runner, times = 1, options = ""): string {
  return `${head}${STATE}${mocks}
  async function run(round) {
    use(round);
    console.log("round", round, new Order(round));
    cache.pages = Array.from({ length: 100 }, () => new Page(round));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (let nth = 1; nth <= ${times}; nth++) {
    test("steady " + nth, () => expectNoLeak({ ${options} run }));
  }`;
}
