// Tests from Node, in three projects. All take the built package in dist/, as its users do.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "package",
          include: ["__test__/**/*.test.ts"],
          exclude: ["__test__/install/**", "__test__/browser/**"],
          // The package as users load it, not a copy that the test runner makes of it.
          server: { deps: { external: [/\/dist\//] } },
          // Compiling a program with asc takes seconds on a slow machine.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        // In a real Chromium, where there is one.
        test: {
          name: "browser",
          include: ["__test__/browser/*.test.ts"],
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Packed as a release packs it, and installed on a machine that has Node alone.
        test: {
          name: "install",
          include: ["__test__/install/*.test.ts"],
          globalSetup: "__test__/install/setup.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
