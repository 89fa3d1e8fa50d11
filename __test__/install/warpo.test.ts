// The drop-in: WARPO's own command line, as its documentation writes it, served by this package.

import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { emptyFolder, expectedOutput, manifestOf, nodeOutput, npm, project } from "./machine.ts";

const server = inject("server");
const root = inject("packages").find(({ name }) => name === "@warpo/heap-analyzer");

/** The arguments of `node ./node_modules/warpo/dist/heap_analyzer/cli.js` in WARPO's documentation. */
const DOCUMENTED = [
  "analyze ./build_work/example-before.dump --wasm ./build_work/dwarfFixture.wasm",
  "analyze ./build_work/example-before.dump --wasm ./build_work/dwarfFixture.wasm --sort retained",
  "analyze ./build_work/example-before.dump --wasm ./build_work/dwarfFixture.wasm --sort shallow",
  "analyze ./build_work/example-before.dump --wasm ./build_work/dwarfFixture.wasm --sort count --top 20",
  "diff ./build_work/example-before.dump ./build_work/example-after.dump --wasm ./build_work/dwarfFixture.wasm",
  "diff ./build_work/example-before.dump ./build_work/example-after.dump --wasm ./build_work/dwarfFixture.wasm --sort delta",
  "diff ./build_work/example-before.dump ./build_work/example-after.dump --wasm ./build_work/dwarfFixture.wasm --sort alloc",
  "diff ./build_work/example-before.dump ./build_work/example-after.dump --wasm ./build_work/dwarfFixture.wasm --sort freed --top 20",
];

/** A project with dumps where WARPO's documentation has them. */
function warpoProject(manifest: object = {}): string {
  const folder = project(manifest);
  for (const [name, file] of [
    ["example-before.dump", server.before],
    ["example-after.dump", server.after],
    ["dwarfFixture.wasm", server.wasm],
  ] as const) {
    mkdirSync(join(folder, "build_work"), { recursive: true });
    copyFileSync(file, join(folder, "build_work", name));
  }
  return folder;
}

/** Prints the same as here; the files have other names, so that is all that may differ. */
function expectDropIn(folder: string, words: string): void {
  const args = words.split(" ");
  const here = args.map((word) =>
    word
      .replace("./build_work/example-before.dump", server.before)
      .replace("./build_work/example-after.dump", server.after)
      .replace("./build_work/dwarfFixture.wasm", server.wasm),
  );
  const printed = nodeOutput(["./node_modules/warpo/dist/heap_analyzer/cli.js", ...args], {
    cwd: folder,
  });
  expect(printed).toBe(expectedOutput(...here));
}

describe("installed under the name warpo, from the registry", () => {
  let folder: string;
  beforeAll(() => {
    folder = warpoProject();
    npm(["install", "warpo@npm:@warpo/heap-analyzer"], { cwd: folder });
  });
  test.each(DOCUMENTED)("cli.js %s", (words) => expectDropIn(folder, words));

  test("the project says so in one line", () => {
    expect(manifestOf(folder).dependencies).toEqual({
      warpo: `npm:@warpo/heap-analyzer@^${root?.version}`,
    });
  });
});

test("installed under the name warpo, from the tarball", () => {
  const folder = warpoProject();
  npm(["install", `warpo@file:${root?.tarball}`], { cwd: folder });
  expectDropIn(folder, DOCUMENTED[0] as string);
  expectDropIn(folder, DOCUMENTED[4] as string);
});

// The package that WARPO's maintainers would publish: docs/capture.md has these files.
describe.each([
  ["commonjs", `require("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");`],
  ["module", `import "@warpo/heap-analyzer/dist/heap_analyzer/cli.js";`],
])("a package warpo of type %s that depends on this one", (type, line) => {
  let folder: string;
  beforeAll(() => {
    const warpo = project(
      {
        name: "warpo",
        version: "1.2.3",
        type,
        dependencies: { "@warpo/heap-analyzer": root?.version },
      },
      { "dist/heap_analyzer/cli.js": `${line}\n` },
      emptyFolder("warpo"),
    );
    const tarball = join(warpo, "warpo-1.2.3.tgz");
    npm(["pack"], { cwd: warpo });
    folder = warpoProject();
    npm(["install", tarball], { cwd: folder });
  });
  test.each([DOCUMENTED[0], DOCUMENTED[4]])("offers cli.js %s", (words) =>
    expectDropIn(folder, words as string),
  );

  test("with the line that the page for WARPO's maintainers gives", () => {
    const page = readFileSync(join(__dirname, "../../docs/capture.md"), "utf8");
    expect(page).toContain(line);
  });
});
