// Tests from Node: they run against the built package in dist/, as its users do.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["__test__/**/*.test.ts"],
    // Their own configuration packs the packages first: npm run test:install.
    exclude: ["__test__/install/**"],
    // The package as users load it, not a copy that the test runner makes of it.
    server: { deps: { external: [/\/dist\//] } },
    // Compiling a program with asc takes seconds on a slow machine.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
