// The command `growth`, and `growth` and `check` of the API, on dumps of the example server.

import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captureDump } from "../dist/capture.js";
import { check, checkAsync, growth, growthAsync, openHeapFile, PlaceTable } from "../dist/index.js";
import type * as api from "../index.js";
import { failureOf, outputOf, runIn } from "./support/command_line.ts";
import { leakyServer, type ServerExports, startServer } from "./support/leaky_server.ts";

const ROUNDS = 10;
const LISTENER = "assembly/server/PriceListener";

let folder: string;
let wasm: string;
let heaps: api.Heap[];
let tables: api.PlaceTable[];
const names = Array.from({ length: ROUNDS }, (_, nth) => `${nth + 1}.dump`);

beforeAll(async () => {
  ({ wasm } = await leakyServer());
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-growth-")));
  const exports = await startServer(new Uint8Array(readFileSync(wasm)));
  const server = exports as unknown as ServerExports;
  for (const name of names) {
    server.serve(40);
    server.__collect();
    writeFileSync(join(folder, name), captureDump(exports));
  }
  heaps = names.map((name) => openHeapFile(join(folder, name), wasm));
  tables = heaps.map((heap) => heap.placeTable());
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const cli = (...args: string[]) => runIn(folder, ["growth", ...args]);

describe("the command growth", () => {
  test("prints the golden text", async () => {
    const output = outputOf(cli(...names, "--wasm", wasm, "--warmup", "1"));
    await expect(output.replaceAll(wasm, "server.wasm")).toMatchFileSnapshot("golden/growth.txt");
  });

  test("says that nothing grows", async () => {
    const same = names.map(() => names[3] as string);
    const output = outputOf(cli(...same, "--wasm", wasm));
    await expect(output).toMatchFileSnapshot("golden/growth-nothing.txt");
  });

  test("has the golden help", async () => {
    await expect(outputOf(cli("--help"))).toMatchFileSnapshot("golden/growth-help.txt");
  });

  test("prints the API's answer as JSON, but for the names of the dumps", () => {
    const output = outputOf(cli(...names, "--wasm", wasm, "--format", "json"));
    const { dumps, ...rest } = growth(tables);
    const parsed = JSON.parse(output) as typeof rest & { dumps: typeof dumps };
    expect(parsed.dumps.map(({ name }) => name)).toEqual(names);
    expect(JSON.stringify({ ...parsed, dumps: 0 })).toBe(
      JSON.stringify({ ...growth(tables), dumps: 0 }),
    );
  });

  test("takes the module of each dump", () => {
    const modules = names.flatMap(() => ["--wasm", wasm]);
    expect(outputOf(cli(...names, ...modules))).toBe(outputOf(cli(...names, "--wasm", wasm)));
    expect(failureOf(cli(...names, "--wasm", wasm, "--wasm", wasm))).toContain(
      "is given 2 times: expected it once, or once for each of the 10 dumps",
    );
  });

  test("refuses a single dump before it reads any file, and warns of few dumps", () => {
    expect(failureOf(cli("no.dump", "--wasm", "no.wasm"))).toContain("two dumps or more");
    expect(failureOf(cli("1", "2", "--wasm", "no.wasm", "--warmup", "1"))).toContain(
      "found 2 with --warmup 1",
    );
    const few = cli(...names.slice(0, 3), "--wasm", wasm);
    expect(few.stderr).toContain("growth over 3 dumps only");
  });

  test("fails with the first dump that cannot be read, whichever of two at a time fails first", () => {
    const [first, second] = names as [string, string];
    const dump = readFileSync(join(folder, second));
    // This one is read to its end, the other one is refused by its header.
    writeFileSync(join(folder, "cut.dump"), dump.subarray(0, dump.length - 70_000));
    writeFileSync(join(folder, "short.dump"), dump.subarray(0, 10));
    const failure = (...dumps: string[]) => failureOf(cli(...dumps, "--wasm", wasm));
    expect(failure(first, "cut.dump", "short.dump", second)).toContain("cut.dump");
    expect(failure(first, "short.dump", "cut.dump", second)).toContain("short.dump");
  });
});

describe("the order of dumps", () => {
  /** The ten dumps as 0.dump to 9.dump and two more, in the order in which shells expand `*.dump`. */
  const alphabetical = ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"];
  let numbered: string;

  beforeAll(async () => {
    numbered = mkdtempSync(join(folder, "numbered-"));
    const exports = await startServer(new Uint8Array(readFileSync(wasm)));
    const server = exports as unknown as ServerExports;
    for (let nth = 0; nth < alphabetical.length; nth++) {
      server.serve(40);
      server.__collect();
      writeFileSync(join(numbered, `${nth}.dump`), captureDump(exports));
    }
    mkdirSync(join(numbered, "empty"));
  });

  const run = (command: string, dumps: string[], ...options: string[]) =>
    runIn(numbered, [command, ...dumps, "--wasm", wasm, ...options]);
  const files = (names: string[]) => names.map((name) => `${name}.dump`);

  test("is that of the numbers in their names where a shell made it, and a note says so", () => {
    const found = run("growth", files(alphabetical), "--warmup", "2", "--format", "json");
    const order = (JSON.parse(found.stdout) as api.GrowthAnswer).dumps.map(({ name }) => name);
    expect(order).toEqual(alphabetical.map((_, nth) => `${nth}.dump`));
    expect(found.stderr).toContain("in the order of the numbers in their names: 0.dump, 1.dump");
  });

  test("lets the gate fail for a program that leaks", () => {
    expect(run("check", files(alphabetical)).status).toBe(2);
  });

  test("is found for a pattern that no shell expanded", () => {
    const found = run("growth", ["[0-9]*.dump"], "--format", "json");
    expect((JSON.parse(found.stdout) as api.GrowthAnswer).dumps).toHaveLength(12);
    expect(found.stderr).toContain("in the order of the numbers");
    expect(failureOf(run("growth", ["no*.dump"]))).toContain("no file matches no*.dump");
  });

  test("refuses a folder without dumps, and one beside dumps", () => {
    expect(failureOf(run("growth", ["empty"]))).toContain("empty has no dumps");
    expect(failureOf(run("check", ["0.dump", "empty"]))).toContain("empty is a folder");
  });

  test("that someone chose against the numbers stays, and the answer begins with the doubt", () => {
    const chosen = files(alphabetical).reverse();
    const found = run("growth", chosen);
    expect(found.stdout).toMatch(/^DOUBTFUL: .*the dumps are swapped/);
    expect(found.stderr).toContain("not in the order of time");
    expect(failureLine(run("check", chosen))).toContain("WARN_OUT_OF_ORDER");
  });

  test("of names without numbers is doubted if the files were written in another", () => {
    const words = ["end.dump", "middle.dump", "start.dump"];
    for (const [nth, word] of words.entries()) {
      copyFileSync(join(numbered, `${2 - nth}.dump`), join(numbered, word));
      utimesSync(join(numbered, word), 1_700_000_000 - nth * 60, 1_700_000_000 - nth * 60);
    }
    expect(run("growth", words).stderr).toContain("start.dump, middle.dump, end.dump");
    expect(failureOf(run("check", words, "--min-dumps", "3"))).toContain("is inconclusive");
    expect(run("growth", words.toReversed()).stderr).not.toContain("alphabetical");
  });

  test("of heaps of the API is doubted if the numbers in their names fall", () => {
    const codes = ({ warnings }: api.GrowthAnswer) => warnings.map(({ code }) => code);
    expect(codes(growth(tables))).not.toContain("WARN_OUT_OF_ORDER");
    expect(codes(growth(tables.toReversed()))).toContain("WARN_OUT_OF_ORDER");
  });

  const failureLine = ({ status, stderr }: ReturnType<typeof run>) => {
    expect(status).toBe(1);
    return stderr.trimEnd().split("\n").at(-1);
  };
});

describe("growth", () => {
  test("names the leak of the server with path, class and rate", () => {
    const { places } = growth(tables, { warmup: 1 });
    expect(places[0]).toMatchObject({
      root: { kind: "global", name: "assembly/server/prices" },
      className: LISTENER,
      label: "[*]",
      stable: true,
      perInterval: { count: 40 },
    });
    expect(places[0]?.path).toContain("assembly/server/PriceFeed.listeners");
  });

  test("gives the same fingerprint as the path of one of the objects", () => {
    const [place] = growth(tables, { warmup: 1 }).places;
    const last = heaps.at(-1) as api.Heap;
    const [listener] = last.find({ class: LISTENER }).objects;
    expect(last.paths(listener?.address as number).path?.fingerprint).toBe(place?.fingerprint);
  });

  test("is the same of heaps, of tables, of written tables, and off the event loop", async () => {
    const answer = growth(tables);
    expect(growth(heaps)).toEqual(answer);
    expect(growth(tables.map((table) => PlaceTable.fromBytes(table.toBytes())))).toEqual(answer);
    const fractions: number[] = [];
    const onProgress = ({ fraction }: { fraction: number }) => fractions.push(fraction);
    expect(await growthAsync(heaps, { onProgress })).toEqual(answer);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(await growthAsync(tables)).toEqual(answer);
  });

  test("tables stay usable after the heap is closed", () => {
    const heap = openHeapFile(join(folder, names[0] as string), wasm);
    const table = heap.placeTable();
    heap.close();
    expect(() => heap.placeTable()).toThrow(expect.objectContaining({ code: "ERR_HEAP_CLOSED" }));
    expect(growth([table, ...tables.slice(1)])).toEqual(growth(tables));
    expect(table.name).toBe(join(folder, names[0] as string));
    expect(table.totalLiveSize).toBeGreaterThan(0);
  });

  test("lists a page", () => {
    const whole = growth(tables.slice(0, 2));
    const page = growth(tables.slice(0, 2), { limit: 1, offset: 1 });
    expect(page).toMatchObject({ total: whole.total, offset: 1, limit: 1 });
    expect(page.places).toEqual(whole.places.slice(1, 2));
  });

  test("refuses what it cannot compare", async () => {
    const code = (code: string) => expect.objectContaining({ code });
    expect(() => growth(tables.slice(0, 1))).toThrow(code("ERR_INVALID_OPTION"));
    expect(() => growth([])).toThrow(code("ERR_INVALID_OPTION"));
    expect(() => growth([tables[0], {}] as api.PlaceTable[])).toThrow(code("ERR_INVALID_ARG_TYPE"));
    expect(() => growth(7 as unknown as api.PlaceTable[])).toThrow(code("ERR_INVALID_ARG_TYPE"));
    expect(() => growth(tables, { warmup: 9 })).toThrow(code("ERR_INVALID_OPTION"));
    expect(() => growth(tables, { limit: 0 })).toThrow(code("ERR_INVALID_OPTION"));
    expect(() => PlaceTable.fromBytes(Buffer.from("{}"))).toThrow(code("ERR_PLACE_TABLE"));
    const abort = AbortSignal.abort();
    await expect(growthAsync(heaps, { signal: abort })).rejects.toThrow(code("ABORT_ERR"));
  });
});

describe("check", () => {
  test("fails by default if something grows, and passes if it is accepted", () => {
    const answer = check(tables);
    expect(answer.passed).toBe(false);
    expect(answer.rules).toEqual([
      {
        rule: "default",
        limit: 0,
        actual: answer.places.length,
        passed: false,
        places: answer.places.map(({ fingerprint }) => fingerprint),
      },
    ]);
  });

  test("passes once every place that it lists is accepted", () => {
    let answer = check(tables);
    const accepted: { path: string }[] = [];
    for (let round = 0; round < 5 && !answer.passed; round++) {
      for (const { path } of answer.places) accepted.push({ path: path as string });
      answer = check(tables, { accepted });
    }
    expect(answer.passed).toBe(true);
    expect(answer.accepted).toHaveLength(accepted.length);
    expect(answer.gone).toEqual([]);
  });

  test("an accepted place that does not grow is gone, and one above its limit is not accepted", () => {
    const [place] = check(tables).places;
    const path = place?.path as string;
    const most = place?.counts.at(-1) as number;
    expect(check(tables, { accepted: [{ path: "global x > Y" }] }).gone).toHaveLength(1);
    const paths = (limit: number) =>
      check(tables, { accepted: [{ path, limit }] }).places.map(({ path }) => path);
    expect(paths(most)).not.toContain(path);
    expect(paths(most - 1)).toContain(path);
  });

  test("budgets hold from the first dump to the last", () => {
    const sizes = tables.map(({ totalLiveSize }) => totalLiveSize);
    const [first, last] = [sizes[0] as number, sizes.at(-1) as number];
    const budget = (options: Parameters<typeof check>[1]) =>
      check(tables, { noDefault: true, ...options }).rules[0];
    expect(budget({ maxGrowth: last - first })).toMatchObject({
      actual: last - first,
      passed: true,
    });
    expect(budget({ maxGrowth: last - first - 1 })).toMatchObject({ passed: false });
    expect(budget({ maxGrowth: "0%" })).toMatchObject({ limit: 0, passed: false });
    expect(budget({ maxGrowth: "100%" })).toMatchObject({ limit: first });
    expect(budget({ maxLive: last })).toMatchObject({ actual: last, passed: true });
    expect(budget({ maxLive: last - 1 })).toMatchObject({ passed: false });
    expect(budget({ max: { "*PriceListener": 400 } })).toMatchObject({ actual: 400, passed: true });
    expect(budget({ max: { "*PriceListener": 399 } })).toMatchObject({ passed: false });
    expect(budget({ noGrowth: ["*PriceListener"] })).toMatchObject({ actual: 360, passed: false });
    expect(budget({ noGrowth: ["*PriceFeed"] })).toMatchObject({ actual: 0, passed: true });
  });

  test("takes 8 dumps, or a budget, or as many as it is told to", async () => {
    const few = tables.slice(0, 4);
    const code = (code: string) => expect.objectContaining({ code });
    expect(() => check(few)).toThrow(code("ERR_TOO_FEW_DUMPS"));
    await expect(checkAsync(few)).rejects.toThrow(code("ERR_TOO_FEW_DUMPS"));
    expect(check(few, { minDumps: 4 }).passed).toBe(false);
    expect(check(few, { maxLive: 2 ** 32 })).toMatchObject({
      passed: true,
      warnings: [{ code: "WARN_GROWTH_NOT_CHECKED" }],
    });
    expect(() => check(tables, { noDefault: true })).toThrow(code("ERR_INVALID_OPTION"));
  });

  test("refuses a class that no dump has, with the nearest names", () => {
    expect(() => check(tables, { max: { "assembly/server/PriceListner": 1 } })).toThrow(LISTENER);
  });
});
