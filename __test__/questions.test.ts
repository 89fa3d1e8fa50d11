// The commands that ask a loaded heap: golden output, the same bytes as the API, and clear errors.

import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump, exposeGlobals } from "../dist/capture.js";
import { openHeapFile } from "../dist/index.js";
import type { Heap, PathAnswer } from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { runCompiler } from "./support/compile.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";

const LISTENER = "assembly/server/PriceListener";

let server: LeakyServer;
let heap: Heap;
let earlier: Heap;
let address: number;
let folder: string;

beforeAll(async () => {
  server = await leakyServer();
  heap = openHeapFile(server.after, server.wasm);
  earlier = openHeapFile(server.before, server.wasm);
  address = heap.find({ class: LISTENER, limit: 1 }).objects[0]?.address as number;
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-questions-")));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command line next to the server's files. */
const cli = (...args: string[]) => runIn(server.folder, args);
const WASM = ["--wasm", "server.wasm"];

/** The address as users copy it from a text. */
const hex = () => `0x${address.toString(16)}`;

describe("a command", () => {
  /** By name of its golden file: the arguments, and the same question to the API. */
  const commands: [string, () => string[], () => unknown][] = [
    ["summary", () => ["summary", "after.dump"], () => heap.summary()],
    [
      "find",
      () => ["find", "after.dump", "--class", "*Price*", "--limit", "5"],
      () => heap.find({ class: "*Price*", limit: 5 }),
    ],
    [
      "find-strings",
      () => ["find", "after.dump", "--class", "*String", "--contains", "user", "--offset", "2"],
      () => heap.find({ class: "*String", contains: "user", offset: 2 }),
    ],
    ["object", () => ["object", "after.dump", hex()], () => heap.object(address)],
    [
      "referrers",
      () => ["referrers", "after.dump", String(address)],
      () => heap.referrers(address),
    ],
    ["paths-object", () => ["paths", "after.dump", "--object", hex()], () => heap.paths(address)],
    [
      "paths-class",
      () => ["paths", "after.dump", "--class", "*String"],
      () => heap.paths({ class: "*String" }),
    ],
    [
      "paths-new",
      () => ["paths", "after.dump", "--new-since", "before.dump"],
      () => heap.paths({ newSince: earlier }),
    ],
    [
      "dominators",
      () => ["dominators", "after.dump", "--limit", "5"],
      () => heap.dominators({ limit: 5 }),
    ],
    [
      "dominators-by-class",
      () => ["dominators", "after.dump", "--by", "class", "--limit", "5"],
      () => heap.dominators({ by: "class", limit: 5 }),
    ],
    ["suspects", () => ["suspects", "after.dump"], () => heap.suspects()],
    [
      "suspects-of-growth",
      () => ["suspects", "after.dump", "--before", "before.dump", "--threshold", "5%"],
      () => heap.suspects({ before: earlier, threshold: 0.05 }),
    ],
    ["waste", () => ["waste", "after.dump", "--limit", "3"], () => heap.waste({ limit: 3 })],
    ["unreachable-nothing", () => ["unreachable", "after.dump"], () => heap.unreachable()],
  ];

  test.each(commands)("prints the golden text: %s", async (name, args) => {
    const output = outputOf(cli(...args(), ...WASM));
    await expect(output).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  test.each(commands)(
    "prints the API's answer as JSON, with its keys in the same order: %s",
    (_, args, ask) => {
      const output = outputOf(cli(...args(), ...WASM, "--format", "json"));
      const answer = JSON.stringify(ask(), null, 2);
      expect(JSON.stringify(JSON.parse(output), null, 2)).toBe(answer);
    },
  );

  test.each(commands)("begins with the version and ends with the warnings: %s", (_, __, ask) => {
    const keys = Object.keys(ask() as object);
    expect(keys[0]).toBe("schemaVersion");
    expect(keys.slice(-2)).toEqual(["partial", "warnings"]);
  });

  const names = [
    "summary",
    "suspects",
    "paths",
    "find",
    "object",
    "referrers",
    "dominators",
    "waste",
    "unreachable",
  ];
  test.each(names)("has the golden help: %s", async (name) => {
    await expect(outputOf(cli(name, "--help"))).toMatchFileSnapshot(`golden/${name}-help.txt`);
  });

  test("writes to a file", () => {
    const output = join(folder, "summary.txt");
    expect(outputOf(cli("summary", "after.dump", ...WASM, "--output", output))).toBe("");
    expect(readFileSync(output, "utf8")).toBe(outputOf(cli("summary", "after.dump", ...WASM)));
  });
});

test("an address inside an object means that object, and a warning says so", () => {
  const inside = cli("object", "after.dump", String(address + 4), ...WASM);
  expect(inside.stdout).toBe(outputOf(cli("object", "after.dump", hex(), ...WASM)));
  expect(inside.stderr).toMatch(/^warning: [^\n]*inside[^\n]*\n$/);
});

test("dumps of two builds take two modules, the earlier first", () => {
  const args = ["suspects", "after.dump", "--before", "before.dump"];
  const one = outputOf(cli(...args, ...WASM));
  expect(outputOf(cli(...args, ...WASM, ...WASM))).toBe(one);
});

describe("an error of arguments is one line", () => {
  const cases: [string, () => string[], string][] = [
    [
      "paths without a target",
      () => ["paths", "no.dump"],
      "error: paths: expected exactly one of --object, --class, --new-since",
    ],
    [
      "paths with two targets",
      () => ["paths", "no.dump", "--class", "A", "--object", "1"],
      "error: paths: expected exactly one of --object, --class, --new-since",
    ],
    [
      "an address that is none",
      () => ["object", "no.dump", "12cd"],
      "Expected an address: 38208 or 0x9540; of a heap snapshot, an id: @38208.",
    ],
    [
      "a threshold of 0",
      () => ["suspects", "no.dump", "--threshold", "0"],
      "Expected a percentage above 0 and at most 100.",
    ],
    [
      "two modules for one dump",
      () => ["summary", "no.dump", "--wasm", "other.wasm"],
      "error: option '-w, --wasm <file>' is given 2 times: expected it once",
    ],
    [
      "an unknown format",
      () => ["summary", "no.dump", "--format", "csv"],
      "Allowed choices are text, json.",
    ],
  ];
  test.each(cases)("of %s, before any file is read", (_, args, message) => {
    expect(failureOf(cli(...args(), "--wasm", "no.wasm"))).toContain(message);
  });

  test("of an unknown class, with the most similar names", () => {
    expect(failureOf(cli("find", "after.dump", ...WASM, "--class", "PriceListner"))).toContain(
      LISTENER,
    );
  });

  test("of an address without an object, with the nearest objects", () => {
    expect(failureOf(cli("object", "after.dump", "3", ...WASM))).toContain("there is no object at");
  });
});

describe("a request in two maps and two arrays", () => {
  let args: string[];
  let shared: number;
  let tables: Heap;

  beforeAll(async () => {
    const program = await runCompiler(["shared_request.ts", "--debug"], {
      baseDir: join(__dirname, "programs"),
      transform: true,
    });
    const exposed = exposeGlobals(program.wasm);
    const { instance } = await WebAssembly.instantiate(exposed, { env: { abort() {} } });
    (instance.exports as unknown as { start(): void }).start();
    const [dump, wasm] = [join(folder, "shared.dump"), join(folder, "shared.wasm")];
    writeFileSync(dump, captureDump(instance.exports));
    writeFileSync(wasm, program.wasm);
    tables = openHeapFile(dump, wasm);
    const requests = tables.find({ class: "shared_request/Request" }).objects;
    const paths = requests.map(({ address }) => tables.paths(address));
    shared = paths.find((path) => path.independentReferrers.total > 1)?.address as number;
    args = ["paths", dump, "--wasm", wasm, "--object", String(shared)];
  });

  test("is reported with all independent references and with its dominator", () => {
    const answer: PathAnswer = tables.paths(shared);
    const { edges, total } = answer.independentReferrers;
    expect(total).toBe(4);
    expect(edges.map(({ className, label }) => `${className} ${label}`).sort()).toEqual([
      "~lib/array/Array<shared_request/Request> [0]",
      "~lib/array/Array<shared_request/Request> [0]",
      "~lib/map/Map<i32,shared_request/Request> [7]",
      '~lib/map/Map<~lib/string/String,shared_request/Request> ["seven"]',
    ]);
    expect(answer.freedByCutting).toBeNull();
    expect(answer.freedByCuttingAll).toBe(answer.retainedSize);
    expect(answer.dominator?.className).toBe("shared_request/Tables");
    // The nearest cut frees both tables, which is no advice about a request.
    expect(answer.cut).toBeNull();
  });

  test("is reported so in the text", async () => {
    await expect(outputOf(runIn(folder, args))).toMatchFileSnapshot("golden/paths-shared.txt");
  });
});
