/**
 * Classes of libraries with visitors of their own: the compiler calls them instead of visiting the fields. What they visit
 * may depend on values, or be in memory that is no object. The judge is the program's own collector.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { compileDescribed } from "./support/compile.ts";
import {
  isRight,
  isSilent,
  JUDGED_BUILDS,
  judgeModule,
  judgeProgram,
  withNamesOnly,
} from "./support/judged_program.ts";
import { someOf } from "./support/nightly.ts";
import { optimise } from "./support/optimiser.ts";

const FOLDER = fileURLToPath(new URL("programs/own_visits", import.meta.url));
/** The program whose visitor needs the function table, which a dump does not have. */
const NOT_RUN = "indirect";
const PROGRAMS = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .filter((name) => name !== NOT_RUN);
/** The library is an installed package. */
const options = (program: string) => ({
  sources: {
    [`${program}.ts`]: readFileSync(join(FOLDER, `${program}.ts`), "utf8"),
    "node_modules/vlib/index.ts": readFileSync(join(FOLDER, "library/index.ts"), "utf8"),
  },
});

// Every night: Binaryen takes seconds.
test.each(someOf(["everything" as const], 2, 1))(
  "with %s inlined, a visitor that reads a variable is not taken for one that does not",
  async (inlining) => {
    const { wasm, classNames } = await compileDescribed("guest", ["-O2", "--debug"], {
      ...options("guest"),
      transform: false,
    });
    const inlined = optimise(wasm, {
      run: "O1",
      inlining,
      kept: "visitors of classes",
      converge: false,
      lowMemoryUnused: false,
    });
    const dumps = judgeModule(inlined, withNamesOnly(inlined, false), classNames);
    expect(dumps.length).toBeGreaterThan(5);
    expect(dumps.filter(isSilent)).toEqual([]);
    // The last dump is taken after the variable has changed.
    expect(dumps.at(-1)?.warnings).toContain("WARN_VISITOR_NOT_RUN");
  },
);

describe.each(JUDGED_BUILDS)("$name", (build) => {
  test.each(someOf(PROGRAMS, JUDGED_BUILDS.length, JUDGED_BUILDS.indexOf(build)))(
    "%s: exactly what the collector keeps is live, and nothing is in doubt",
    async (name) => {
      const dumps = await judgeProgram(name, build, options(name));
      expect(dumps.length).toBeGreaterThan(5);
      expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual([]);
    },
  );

  test("a visitor that cannot be run is named in a warning", async () => {
    const dumps = await judgeProgram(NOT_RUN, build, options(NOT_RUN));
    expect(dumps.filter(isSilent)).toEqual([]);
    // Before the first object of the class, nothing is in doubt.
    for (const { view } of dumps.slice(1)) {
      const warnings = view?.warnings.filter(({ code }) => code === "WARN_VISITOR_NOT_RUN");
      expect(warnings).toHaveLength(1);
      // An optimiser may inline all functions that name the class.
      const isNamed = build.isDescribed || build.flags.length === 0;
      const name = isNamed ? "~lib/vlib/index/Indirect" : "Class#";
      expect(warnings?.[0]?.message).toContain(name);
    }
  });
});
