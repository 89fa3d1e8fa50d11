/** A genuine WARPO build, as data with the truth beside it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ComparisonView, ConstructorView } from "../index.js";

const sample = resolve(__dirname, "samples/warpo-town");
const unpacked = resolve(__dirname, "../build/warpo-town");
const wasm = join(unpacked, "town.wasm");

/** The collector's own lists at each dump: address → [runtime id, block bytes]. */
type Truth = Record<string, Record<string, [id: number, bytes: number]>>;

describe("the genuine WARPO sample", () => {
  const unpack = (name: string) => gunzipSync(readFileSync(join(sample, `${name}.gz`)));
  const truth = () => JSON.parse(unpack("town.truth.json").toString()) as Truth;

  function dump(id: number): string {
    mkdirSync(unpacked, { recursive: true });
    const file = join(unpacked, `town.${id}.dump`);
    writeFileSync(file, unpack(`town.${id}.dump`));
    return file;
  }

  function cli<View>(...args: string[]): View {
    const script = resolve(__dirname, "../dist/heap_analyzer/cli.js");
    writeFileSync(wasm, unpack("town.wasm"));
    const output = execFileSync(process.execPath, [script, ...args, "--wasm", wasm]);
    return JSON.parse(output.toString()) as View;
  }

  test.each([
    { id: 0, collected: 1, count: 136 },
    { id: 1, collected: 1, count: 136 },
    { id: 2, collected: 3, count: 103 },
    { id: 3, collected: 3, count: 103 },
  ])(
    "analyze lists for dump $id exactly the $count objects that the collector keeps",
    ({ id, collected, count }) => {
      const view = cli<ConstructorView>("analyze", dump(id));
      const instances = view.constructors.flatMap((row) => row.instances);
      const found = new Map(
        instances.map((object) => [String(object.address), object.shallowSize]),
      );
      const kept = Object.entries(truth()[collected] ?? {});
      expect(found).toEqual(new Map(kept.map(([address, [, bytes]]) => [address, bytes])));
      expect(instances).toHaveLength(count);
    },
  );

  test("diff lists exactly the objects that came and went between the collections", () => {
    const view = cli<ComparisonView>("diff", dump(1), dump(3));
    const changes = view.constructors.flatMap((row) => row.instances);
    const addresses = (kind: string) =>
      new Set(changes.filter((c) => c.changeKind === kind).map((c) => String(c.address)));
    const { 1: before = {}, 3: after = {} } = truth();
    // An address may have changed hands: then its class did too.
    const isSame = (address: string) => before[address]?.[0] === after[address]?.[0];
    expect(addresses("new")).toEqual(new Set(Object.keys(after).filter((a) => !isSame(a))));
    expect(addresses("delete")).toEqual(new Set(Object.keys(before).filter((a) => !isSame(a))));
  });
});
