// Tests of the packages: packed as a release packs them, installed on a machine that has Node alone.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["__test__/install/*.test.ts"],
    globalSetup: "__test__/install/setup.ts",
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
