// Tests from Node, in several projects. All take the built package in dist/, as its users do.

import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Stands for a file that the build of DevTools makes. */
const LOCALES = fileURLToPath(new URL("__test__/devtools/locales.ts", import.meta.url));

/** Tests that take long. They run every night: `npm run test:slow`. */
const SLOW = [
  "__test__/browser/explorer_joined.test.ts",
  "__test__/host_leaks.test.ts",
  "__test__/install/host_runners.test.ts",
  "__test__/mcp/floods.test.ts",
  "__test__/profile_languages.test.ts",
  "__test__/random.test.ts",
  "__test__/stores.test.ts",
];
const exclude = process.env.TEST_SLOW === undefined ? SLOW : [];

export default defineConfig({
  test: {
    // Many tests wait for other processes, so that a worker more than there are cores keeps all of them busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: "package",
          include: ["__test__/**/*.test.ts"],
          exclude: [
            ...exclude,
            "__test__/install/**",
            "__test__/browser/**",
            "__test__/devtools/**",
            "__test__/memlab/**",
            "__test__/npm_modules/**",
            "__test__/fleet/**",
            "__test__/large/**",
            "__test__/runners/**",
            "__test__/vscode/**",
          ],
          // Load the package as users do, not as a copy that the test runner transforms.
          server: { deps: { external: [/\/dist\//] } },
          // To stop a test that hangs. On a busy machine, tests take several times as long as usual.
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        // With the code of Chrome's DevTools, which comes as TypeScript.
        resolve: {
          alias: [
            { find: /^.*\/core\/i18n\/locales\.js$|^\.\/locales\.js$/, replacement: LOCALES },
          ],
        },
        test: {
          name: "devtools",
          include: ["__test__/devtools/*.test.ts"],
          server: { deps: { external: [/\/dist\//], inline: [/chrome-devtools-frontend/] } },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // With memlab, where it is installed: `npm run test:memlab` installs it.
        test: {
          name: "memlab",
          include: ["__test__/memlab/*.test.ts"],
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // With packages of npm, where they are installed: `npm run test:npm-modules` installs them.
        test: {
          name: "npm-modules",
          include: ["__test__/npm_modules/*.test.ts"],
          testTimeout: 300_000,
        },
      },
      {
        // With DuckDB and Apache Spark, if asked for: `npm run test:fleet`.
        test: {
          name: "fleet",
          include: process.env.TEST_FLEET === undefined ? [] : ["__test__/fleet/*.test.ts"],
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 600_000,
          hookTimeout: 1_800_000,
        },
      },
      {
        // With files of several gigabytes, if asked for: `npm run test:large`.
        test: {
          name: "large",
          include: process.env.TEST_LARGE === undefined ? [] : ["__test__/large/*.test.ts"],
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 1_800_000,
        },
      },
      {
        // Leak tests in every runner, many times, if asked for: `npm run test:runners`.
        test: {
          name: "runners",
          include: process.env.TEST_RUNNERS === undefined ? [] : ["__test__/runners/*.test.ts"],
          testTimeout: 6 * 3_600_000,
        },
      },
      {
        // In a real Chromium, where there is one.
        test: {
          name: "browser",
          include: ["__test__/browser/*.test.ts"],
          exclude,
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // The packed extension in VS Code, where it is installed: `npm run test:vscode` installs it.
        test: {
          name: "vscode",
          include: ["__test__/vscode/*.test.ts"],
          expect: { poll: { timeout: 60_000 } },
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        // Packed as in a release, and installed on a simulated machine with only Node.
        test: {
          name: "install",
          include: ["__test__/install/*.test.ts"],
          exclude,
          globalSetup: "__test__/install/setup.ts",
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
