/**
 * Start functions that do something before the first managed object, where the analyzer's interpreter ends: they allocate
 * raw memory, call functions by index, recurse deeply, compute for long, use vectors, or trap if the host says so.
 */

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isRight, JUDGED_BUILDS, judgeProgram } from "./support/judged_program.ts";
import { someOf } from "./support/nightly.ts";

const FOLDER = fileURLToPath(new URL("programs/starts", import.meta.url));
const PROGRAMS = readdirSync(FOLDER).map((file) => file.slice(0, -".ts".length));

describe.each(JUDGED_BUILDS)("$name", (build) => {
  test.each(someOf(PROGRAMS, JUDGED_BUILDS.length, JUDGED_BUILDS.indexOf(build)))(
    "%s: exactly what the collector keeps is live, and nothing is in doubt",
    async (name) => {
      const flags = [...build.flags, "--enable", "simd"];
      const dumps = await judgeProgram(name, { ...build, flags }, { baseDir: FOLDER });
      expect(dumps.length).toBeGreaterThan(5);
      expect(dumps.filter((dump) => !isRight(dump)).map(({ view, ...rest }) => rest)).toEqual([]);
    },
  );
});
