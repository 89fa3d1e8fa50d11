/** Genuine WARPO builds of optimised programs, as data with the truth beside it. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { analyze } from "@warpo/heap-analyzer";
import { describe, expect, test } from "vitest";

const samples = resolve(__dirname, "samples/warpo-optimised");

/** The collector's own lists at each dump: address → [runtime id, block bytes]. */
type Truth = Record<string, Record<string, [id: number, bytes: number]>>;

const entries = (folder: string) => readdirSync(join(samples, folder), { withFileTypes: true });

/** Folders with modules, and the programs in them. */
const builds = entries("")
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name: build }) =>
    entries(build).flatMap(({ name }) => {
      const program = /^(.*)\.wasm\.gz$/.exec(name)?.[1];
      return program === undefined ? [] : [{ build, program }];
    }),
  );

/** Each dump, and the one after the collection that shows what was live. */
const DUMPS = [
  { dump: 0, collected: 1 },
  { dump: 1, collected: 1 },
  { dump: 2, collected: 3 },
  { dump: 3, collected: 3 },
];

describe("optimised WARPO builds", () => {
  test.each(builds)(
    "$build/$program: exactly what the collector keeps is live, and nothing is in doubt",
    ({ build, program }) => {
      const unpack = (suffix: string) =>
        gunzipSync(readFileSync(join(samples, build, `${program}.${suffix}.gz`)));
      const wasm = unpack("wasm");
      const truth = JSON.parse(unpack("truth.json").toString()) as Truth;
      for (const { dump, collected } of DUMPS) {
        const view = analyze(unpack(`${dump}.dump`), wasm);
        const found = view.constructors.flatMap(({ className, instances }) =>
          instances.map(
            ({ address, shallowSize }) => [`${address} ${shallowSize}`, className] as const,
          ),
        );
        const kept = new Map(
          Object.entries(truth[collected] ?? {}).map(([address, [id, bytes]]) => [
            `${address} ${bytes}`,
            id,
          ]),
        );
        const names = new Map<string, string>(found);
        expect({
          dump,
          tooMany: found.filter(([object]) => !kept.has(object)),
          missing: [...kept].filter(([object]) => !names.has(object)),
          warnings: view.warnings.map(({ message }) => message),
        }).toEqual({ dump, tooMany: [], missing: [], warnings: [] });
      }
    },
  );
});
