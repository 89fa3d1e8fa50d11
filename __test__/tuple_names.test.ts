/** A tuple has its elements whatever the debug information calls its class: the collector's code knows them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { analyze } from "../dist/index.js";

const SAMPLE = join(import.meta.dirname, "samples/warpo-february/alarm-tuple-debug-O0");
const unpacked = (name: string) => gunzipSync(readFileSync(join(SAMPLE, name)));

test("another name of the class of tuples takes no element away", () => {
  const wasm = unpacked("t6.wasm.gz");
  const dump = unpacked("t6.0.dump.gz");
  const { totalLiveSize } = analyze(dump, wasm);
  expect(totalLiveSize).toBe(112);
  wasm.write("n", wasm.indexOf("~lib/tuple/SmallTuple\0") + "~lib/tu".length);
  const changed = analyze(dump, wasm);
  expect(changed.constructors.map(({ className }) => className)).toContain("~lib/tunle/SmallTuple");
  expect(changed.totalLiveSize).toBe(totalLiveSize);
});
