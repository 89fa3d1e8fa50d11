// Tests from Node, in several projects. All take the built package in dist/, as its users do.

import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import Skips from "./.ci/skips.mts";
import { PARTS, type Part } from "./__test__/parts.mts";

/** Stands for a file that the build of DevTools makes. */
const LOCALES = fileURLToPath(new URL("__test__/devtools/locales.ts", import.meta.url));

/** Starts the process that compiles AssemblyScript for all test files. */
const COMPILER = "__test__/support/asc_service.ts";
/** The part of the tests that runs (`npm run test:full`); without one, all that are in no part. */
const part = process.env.TEST_PART as Part | undefined;
/** Whether the command line names files. Then these run. */
const isNamed = process.argv.some((argument) => argument.includes("__test__/"));
const exclude = part !== undefined || isNamed ? [] : Object.values(PARTS).flat();

/** The files of a project, or those of them that the part has. */
function files(folder: string): string[] {
  return part === undefined
    ? [`${folder}**/*.test.ts`]
    : PARTS[part].filter((file) => file.startsWith(folder));
}

/** The files of a project that `npm run test:full` installs something for. They run only if they are asked for. */
function filesIfAsked(name: string, folder: string): string[] {
  const isAsked = process.argv.some((argument) => argument === name || argument.includes(folder));
  return isAsked ? [`${folder}*.test.ts`] : [];
}

export default defineConfig({
  test: {
    reporters: ["default", new Skips()],
    // Many tests wait for other processes, so that two workers more than there are cores keep all of them busy.
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        test: {
          name: "package",
          globalSetup: COMPILER,
          include: files("__test__/"),
          exclude: [
            ...exclude,
            "__test__/install/**",
            "__test__/browser/**",
            "__test__/devtools/**",
            "__test__/memlab/**",
            "__test__/asc_packages/**",
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
          globalSetup: COMPILER,
          include: files("__test__/devtools/"),
          server: { deps: { external: [/\/dist\//], inline: [/chrome-devtools-frontend/] } },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // With memlab, where it is installed: `npm run test:full -- memlab` installs it.
        test: {
          name: "memlab",
          include: filesIfAsked("memlab", "__test__/memlab/"),
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // With libraries and old compilers, where they are installed: `npm run test:full -- asc-packages` installs them.
        test: {
          name: "asc-packages",
          globalSetup: COMPILER,
          include: filesIfAsked("asc-packages", "__test__/asc_packages/"),
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // With packages of npm, where they are installed: `npm run test:full -- npm-modules` installs them.
        test: {
          name: "npm-modules",
          include: filesIfAsked("npm-modules", "__test__/npm_modules/"),
          testTimeout: 300_000,
        },
      },
      {
        // With DuckDB and Apache Spark, if asked for: `npm run test:full -- fleet`.
        test: {
          name: "fleet",
          include: filesIfAsked("fleet", "__test__/fleet/"),
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 600_000,
          hookTimeout: 1_800_000,
        },
      },
      {
        // With files of several gigabytes, if asked for: `npm run test:full -- large`.
        test: {
          name: "large",
          include: filesIfAsked("large", "__test__/large/"),
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 1_800_000,
        },
      },
      {
        // Leak tests in every runner, many times, if asked for: `npm run test:full -- runners`.
        test: {
          name: "runners",
          globalSetup: COMPILER,
          include: filesIfAsked("runners", "__test__/runners/"),
          testTimeout: 6 * 3_600_000,
        },
      },
      {
        // In a real Chromium, where there is one.
        test: {
          name: "browser",
          globalSetup: COMPILER,
          include: files("__test__/browser/"),
          exclude,
          server: { deps: { external: [/\/dist\//] } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // The packed extension in VS Code, where it is installed: `npm run test:full -- vscode` installs it.
        test: {
          name: "vscode",
          globalSetup: COMPILER,
          include: filesIfAsked("vscode", "__test__/vscode/"),
          expect: { poll: { timeout: 60_000 } },
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        // Packed as in a release, and installed on a simulated machine with only Node.
        test: {
          name: "install",
          include: files("__test__/install/"),
          exclude,
          globalSetup: [COMPILER, "__test__/install/setup.ts"],
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
