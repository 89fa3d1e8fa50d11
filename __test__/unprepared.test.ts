/** The example server without preparation: stock `asc --debug`, without the transform. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { analyze, type ConstructorView, openHeap } from "@warpo/heap-analyzer";
import { captureDump } from "@warpo/heap-analyzer/capture";
import { beforeAll, describe, expect, test } from "vitest";
import { leakyServer, type ServerExports, startServer } from "./support/leaky_server.ts";

const ROOT = resolve(__dirname, "..");
const FOLDER = join(ROOT, "build/unprepared");

function compile(name: string, ...flags: string[]): Uint8Array<ArrayBuffer> {
  const wasm = join(FOLDER, name);
  const asc = join(ROOT, "node_modules/assemblyscript/bin/asc.js");
  const args = [asc, "assembly/server.ts", "-o", wasm, ...flags];
  execFileSync(process.execPath, args, { cwd: join(ROOT, "examples/leaky-server") });
  return new Uint8Array(readFileSync(wasm));
}

/** The same traffic for every build. */
async function viewOf(wasm: Uint8Array<ArrayBuffer>): Promise<ConstructorView> {
  const exports = await startServer(wasm);
  (exports as unknown as ServerExports).serve(300);
  return analyze(captureDump(exports), wasm);
}

const rows = ({ constructors }: ConstructorView) =>
  constructors.map(({ instances, ...row }) => ({ ...row, instances }));

describe("the example server without the transform", () => {
  let prepared: ConstructorView;
  let unprepared: ConstructorView;

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    prepared = await viewOf(new Uint8Array(readFileSync((await leakyServer()).wasm)));
    unprepared = await viewOf(compile("server.wasm", "--debug", "--exportRuntime"));
  });

  test("gives the same rows, names and instances included, as with it", () => {
    expect(rows(unprepared)).toEqual(rows(prepared));
  });

  test("gives no warning", () => {
    expect(unprepared.warnings).toEqual([]);
  });

  test("calls fields by their offset, and questions that show them say so", async () => {
    const wasm = compile("fields.wasm", "--debug", "--exportRuntime");
    const exports = await startServer(wasm);
    (exports as unknown as ServerExports).serve(3);
    const heap = openHeap(captureDump(exports), wasm);
    const found = heap.find({ class: "assembly/server/PriceFeed" });
    const { address } = found.objects[0] as { address: number };
    const { fields, warnings } = heap.object(address);
    expect(fields.map(({ name }) => name)).toContain("+0");
    expect(warnings).toEqual([
      { code: "WARN_NAMES_INCOMPLETE", message: expect.stringContaining("such as +0") },
    ]);
  });

  test("optimised with names has a warning about classes without names", async () => {
    const optimised = await viewOf(compile("optimised.wasm", "-O3", "--debug", "--exportRuntime"));
    const named = optimised.constructors.map(({ className }) => className);
    expect(named.some((name) => name.startsWith("Class#"))).toBe(true);
    expect(optimised.warnings).toEqual([
      {
        code: "WARN_NAMES_INCOMPLETE",
        message: expect.stringContaining("and the module has no debug information"),
      },
    ]);
  });

  test("stripped of all names gives the same counts and sizes, and a warning about missing names", async () => {
    const stripped = await viewOf(compile("stripped.wasm"));
    // The static data differs, so only the addresses of objects may differ.
    const numbers = ({ constructors }: ConstructorView) =>
      constructors.map(({ count, totalShallowSize, totalRetainedSize }) => ({
        count,
        totalShallowSize,
        totalRetainedSize,
      }));
    expect(numbers(stripped)).toEqual(numbers(prepared));
    expect(stripped.warnings.map(({ code }) => code)).toEqual(["WARN_NAMES_MISSING"]);
  });
});
