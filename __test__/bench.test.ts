// The benchmark, at a size without meaningful numbers: it must run and write its results. If asked for, because the
// engine is compiled for it: `npm run test:full -- bench`.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { Results } from "../benches/driver/results.ts";
import { findChromium } from "./browser/chromium.ts";
import { isMemlabInstalled } from "./memlab/snapshot.ts";

const IS_ASKED_FOR = process.env.TEST_BENCH !== undefined;
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const file = join(folder, "results.json");
const tables = join(folder, "results.txt");

beforeAll(() => {
  if (!IS_ASKED_FOR) return;
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", "benches"], { cwd: ROOT });
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Runs it without optimisation. */
function bench(...options: string[]): string {
  const driver = join(ROOT, "build/bench/bench.js");
  const tiny = ["--unoptimised", "--objects", "500,2000", "--repeat", "1", "--output", file];
  return execFileSync(process.execPath, [driver, ...tiny, ...options], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

test.runIf(IS_ASKED_FOR)(
  "a run measures forged and real heaps, judges its promises, and compares itself with an earlier one",
  () => {
    const report = bench("--shapes", "chain,shop,explorer,profiler,snapshots", "--tables", tables);
    const results = JSON.parse(readFileSync(file, "utf8")) as Results;

    const rows = results.stages.map(({ shape, size }) => `${shape} ${size}`);
    expect(rows).toEqual(["chain 500", "chain 2000", "shop 500", "shop 2000"]);
    const [chain] = results.stages;
    expect(chain).toMatchObject({ objects: 500, live: 500, references: 998 });
    const sum = Object.values(chain?.stages ?? {}).reduce((sum, time) => sum + time, 0);
    expect(sum).toBeCloseTo(chain?.total.median ?? 0, 3);

    const promises = results.targets.map(({ work }) => work);
    // With memlab and with Chromium, if they are installed.
    expect(promises).toHaveLength(51 + (isMemlabInstalled() ? 4 : 0) + (findChromium() ? 6 : 0));
    expect(results.targets.every(({ met }) => met === null)).toBe(true);
    for (const promise of promises) expect(report).toContain(promise);
    expect(report).toContain(readFileSync(tables, "utf8"));

    const comparison = bench("--shapes", "chain", "--compare", file);
    expect(comparison).toContain(`This run divided by that of ${results.date}`);
    expect(comparison).toMatch(/^chain +500( +\d+\.\d\d)+$/m);
  },
);

test.runIf(IS_ASKED_FOR)("an unknown shape is an error that lists the known shapes", () => {
  expect(() => bench("--shapes", "torus")).toThrow(/there is no shape torus; there are mix, list,/);
});
