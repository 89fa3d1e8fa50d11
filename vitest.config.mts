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
          // Load the package as users do, not as a copy that the test runner transforms.
          server: { deps: { external: [/\/dist\//] } },
          // To stop a test that hangs. On a busy machine, tests take several times as long as usual.
          testTimeout: 300_000,
          hookTimeout: 600_000,
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
        // Packed as in a release, and installed on a simulated machine with only Node.
        test: {
          name: "install",
          include: ["__test__/install/*.test.ts"],
          globalSetup: "__test__/install/setup.ts",
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
