/**
 * A dump of one build, a module of another: between the two, somebody changed a class. Nothing that a
 * dump must share with its module tells, but the objects do.
 */

import { analyze, growth, openHeap } from "@warpo/heap-analyzer";
import { captureDump, exposeGlobals } from "@warpo/heap-analyzer/capture";
import { beforeAll, describe, expect, test } from "vitest";
import { runCompiler } from "./support/compile.ts";

/** A program that keeps two orders, each of which refers to the one before. */
async function build(fields: string): Promise<Uint8Array> {
  const source = `
    class Order { ${fields} }
    let last: Order | null = null;
    export function main(): void {
      for (let nth = 0; nth < 2; nth++) {
        const order = new Order();
        order.previous = last;
        last = order;
      }
    }`;
  const sources = { "index.ts": source };
  const flags = ["index.ts", "--debug"];
  const { wasm } = await runCompiler(flags, { sources, transform: true });
  return wasm;
}

async function dumpOf(wasm: Uint8Array): Promise<Uint8Array> {
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
  (exports as unknown as { main(): void }).main();
  return captureDump(exports);
}

const ONE = "previous: Order | null = null;";
const BEFORE_IT = `number: u32 = 7; ${ONE}`;
const BEHIND_IT = `${ONE} number: u32 = 7;`;

test.each([
  ["the same fields", ONE, ONE, undefined],
  ["the same fields of several sizes", `${ONE} b: u8; c: u16; d: f64;`, undefined, undefined],
  ["a field less", BEHIND_IT, ONE, "WARN_FIELDS_DIFFER"],
  ["a field less in front", BEFORE_IT, ONE, "WARN_FIELDS_DIFFER"],
  ["one more reference after the others", ONE, BEFORE_IT, "WARN_FIELDS_DIFFER"],
])("a dump whose objects have %s", async (_, inModule, inDump, expected) => {
  const dump = await dumpOf(await build(inDump ?? inModule));
  const { warnings } = analyze(dump, await build(inModule));
  expect(warnings[0]?.code).toBe(expected);
});

describe("of another build", () => {
  let dump: Uint8Array;
  let wasm: Uint8Array;
  beforeAll(async () => {
    dump = await dumpOf(await build(ONE));
    wasm = await build(BEHIND_IT);
  });

  test("nothing is said to retain the most or to grow", () => {
    const heap = openHeap(dump, wasm);
    const refused = expect.objectContaining({ code: "ERR_MODULE_MISMATCH" });
    expect(() => heap.suspects()).toThrow(refused);
    expect(() => heap.suspects({ before: heap })).toThrow(refused);
    expect(() => growth([heap.placeTable(), heap.placeTable()])).toThrow(refused);
  });

  test("an answer is given to who asks for it, and begins with the reason", () => {
    const heap = openHeap(dump, wasm, { force: true });
    expect(heap.suspects().warnings[0]?.code).toBe("WARN_MODULE_MISMATCH");
  });

  test("the module that was running has its answer", () => {
    return build(ONE).then((own) => expect(openHeap(dump, own).suspects().warnings).toEqual([]));
  });
});
