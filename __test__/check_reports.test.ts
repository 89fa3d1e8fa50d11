// The reports of a check, each read by a reader of its format.

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { error } from "@actions/core";
import sarifSchema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with {
  type: "json",
};
import Ajv from "ajv-draft-04";
import { parse } from "junit2json";
import { lexer, type Token, walkTokens } from "marked";
import type { Log } from "sarif";
import { describe, expect, test, vi } from "vitest";
import { githubAnnotations } from "../dist/check/annotations.js";
import { growth } from "../dist/check/findings.js";
import { junit } from "../dist/check/junit.js";
import { markdown } from "../dist/check/markdown.js";
import { sarif } from "../dist/check/sarif.js";
import { escapeUnprintable } from "../dist/text.js";
import type { CheckAnswer } from "../index.js";
import {
  brokenAnswer,
  growingPlace,
  HOSTILE_NAMES,
  passedAnswer,
} from "./support/check_answers.ts";

const text = (pieces: Iterable<string>) => [...pieces].join("");
const MODULE = "build/server.wasm";

/** The class name as every report shows it: in one line, with nothing invisible. */
const VISIBLE = /^[^\p{C}]*$/u;

/** An answer in which everything has this name. */
function hostile(name: string): CheckAnswer {
  const place = growingPlace({
    className: name,
    path: `global ${name} > ${name}.${name} > ${name}`,
  });
  const answer = brokenAnswer({ ...place, label: name });
  answer.rules.push({
    rule: `no-growth ${name}`,
    limit: 0,
    actual: 1,
    passed: false,
    places: [],
  });
  answer.warnings.push({ code: "WARN_NAMES_MISSING", message: name });
  return answer;
}

/** An answer with the given number of growing places. */
function large(count: number): CheckAnswer {
  const places = Array.from({ length: count }, (_, nth) =>
    growingPlace({ fingerprint: nth.toString(16).padStart(12, "0"), className: `Class${nth}` }),
  );
  const answer = brokenAnswer();
  const fingerprints = places.map(({ fingerprint }) => fingerprint);
  const [growth, ...others] = answer.rules as [CheckAnswer["rules"][number]];
  return { ...answer, places, rules: [{ ...growth, places: fingerprints }, ...others] };
}

describe("the growth of a place", () => {
  const said = (count: number, bytes: number, retained: number) =>
    growth(growingPlace({ className: "Order", perInterval: { count, bytes, retained } }));

  test("is that of what it retains, if that grows", () => {
    expect(said(40, 1600, 2560)).toBe("40 more Order per interval (2.5 KiB retained)");
    expect(said(0, 10, 24)).toBe("Order: as many objects as before retain 24 B more per interval");
  });

  test("is that of its objects or their contents, if it retains as much as before, or less", () => {
    expect(said(40, 1600, -2560)).toBe("40 more Order per interval (2.5 KiB less retained)");
    for (const retained of [0, -24]) {
      expect(said(0, 10, retained)).toBe(
        "Order: as many objects as before have 10 B more of contents per interval",
      );
    }
  });
});

describe("JUnit XML", () => {
  test("of broken rules is the golden one", async () => {
    await expect(text(junit(brokenAnswer(), 1.25))).toMatchFileSnapshot("golden/check-junit.xml");
  });

  test("has a test case for each rule, and a failure for each broken one", async () => {
    const suites = await parse(text(junit(brokenAnswer(), 1.25)));
    const [suite] = (suites as { testsuite: TestSuiteLike[] }).testsuite;
    expect(suite).toMatchObject({ tests: 3, failures: 2, errors: 0 });
    const failed = suite?.testcase.filter(({ failure }) => failure !== undefined);
    expect(failed?.map(({ classname }) => classname)).toEqual(["growth", "max-live"]);
    expect(failed?.[0]?.failure?.[0]?.inner).toContain("40 more assembly/server/PriceListener");
    expect(failed?.[0]?.failure?.[0]?.inner).toContain("de8e6b05a684");
  });

  test("of a passed check has no failure", async () => {
    const suites = await parse(text(junit(passedAnswer(), 1.25)));
    const [suite] = (suites as { testsuite: TestSuiteLike[] }).testsuite;
    expect(suite).toMatchObject({ tests: 3, failures: 0, time: 1.25 });
    expect(suite?.testcase.some(({ failure }) => failure !== undefined)).toBe(false);
  });

  test.each(HOSTILE_NAMES)("keeps a hostile name in its place: %j", async (name) => {
    const suites = await parse(text(junit(hostile(name), 1.25)));
    const [suite] = (suites as { testsuite: TestSuiteLike[] }).testsuite;
    expect(suite?.testcase).toHaveLength(4);
    const [growth] = suite?.testcase[0]?.failure?.[0]?.inner?.split("\n") ?? [];
    expect(growth).toMatch(/^40 more .* per interval \(2\.5 KiB retained\)$/);
    expect(growth).toMatch(VISIBLE);
    expect(suite?.testcase[3]?.name).toContain(
      growth?.slice("40 more ".length, -" per interval (2.5 KiB retained)".length),
    );
  });
});

/** What is read of a suite. */
interface TestSuiteLike {
  testcase: {
    name: string;
    classname: string;
    failure?: { message: string; inner?: string }[];
  }[];
}

describe("SARIF", () => {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    unicodeRegExp: false,
    validateFormats: false,
  });
  const isValid = ajv.compile(sarifSchema);

  function read(answer: CheckAnswer, file = MODULE): Log {
    const log = JSON.parse(text(sarif(answer, file, "0.1.0"))) as Log;
    isValid(log);
    expect(isValid.errors).toBeNull();
    return log;
  }

  test("of broken rules is the golden one", async () => {
    const golden = `${JSON.stringify(read(brokenAnswer()), null, 2)}\n`;
    await expect(golden).toMatchFileSnapshot("golden/check-sarif.json");
  });

  test("has the module as location and the path as code flow", () => {
    const [run] = read(brokenAnswer()).runs;
    const [leak, budget] = run?.results ?? [];
    expect(leak?.locations?.[0]?.physicalLocation?.artifactLocation?.uri).toBe(MODULE);
    const flow = leak?.codeFlows?.[0]?.threadFlows[0]?.locations ?? [];
    expect(flow.map(({ location }) => location?.message?.text)).toEqual([
      "global assembly/server/prices",
      "assembly/server/PriceFeed.listeners",
      "~lib/array/Array<assembly/server/PriceListener>[*]",
      "assembly/server/PriceListener",
    ]);
    expect(budget?.ruleId).toBe("max-live");
  });

  test("describes each rule as code scanning demands", () => {
    for (const rule of read(brokenAnswer()).runs[0]?.tool.driver.rules ?? []) {
      const { fullDescription, help, name } = rule;
      expect([fullDescription?.text, help?.text]).not.toContain(undefined);
      expect(name).toMatch(/^([A-Z][a-z]+)+$/);
    }
  });

  test("of a passed check has no result", () => {
    expect(read(passedAnswer()).runs[0]?.results).toEqual([]);
  });

  test.each([
    ["a b/ü#1?.wasm", "a%20b/%C3%BC%231%3F.wasm"],
    ["/tmp/a b.wasm", "file:///tmp/a%20b.wasm"],
    ["c:d.wasm", "c%3Ad.wasm"],
  ])("makes a URI of the path %s", (file, uri) => {
    const [result] = read(brokenAnswer(), file).runs[0]?.results ?? [];
    const found = result?.locations?.[0]?.physicalLocation?.artifactLocation?.uri;
    expect(process.platform === "win32" || found === uri).toBe(true);
  });

  test.each(HOSTILE_NAMES)("keeps a hostile name in its place: %j", (name) => {
    const [result] = read(hostile(name)).runs[0]?.results ?? [];
    expect(result?.message.text).toMatch(VISIBLE);
    // Neither a link nor a placeholder.
    expect(result?.message.text).not.toMatch(/\]\(|(?<!\{)\{(\{\{)*(?!\{)/);
  });
});

describe("Markdown", () => {
  test("of broken rules is the golden one", async () => {
    await expect(text(markdown(brokenAnswer()))).toMatchFileSnapshot("golden/check-markdown.md");
  });

  test.each(HOSTILE_NAMES)("has no markup of a hostile name: %j", (name) => {
    const kinds = new Set<string>();
    const codes: string[] = [];
    walkTokens(lexer(text(markdown(hostile(name)))), (token: Token) => {
      kinds.add(token.type);
      if (token.type === "codespan") codes.push(token.text);
    });
    const expected = [
      "codespan",
      "heading",
      "list",
      "list_item",
      "paragraph",
      "space",
      "strong",
      "text",
    ];
    expect(expected).toEqual(expect.arrayContaining([...kinds]));
    // The glob of the rule, the class, the path, the fingerprints and the warning.
    expect(codes).toHaveLength(2 + 1 + 3 + 1 + 2 + 1);
  });

  test("is smaller than 1 MiB, whatever the answer, and says what is left out", () => {
    const report = text(markdown(large(20_000)));
    expect(Buffer.byteLength(report)).toBeLessThan(1 << 20);
    expect(Buffer.byteLength(report)).toBeGreaterThan(1_000_000);
    expect(report).toMatch(/\n[\d,]+ of 20,000 are left out\.\n/);
    const names = "\u{1f418}".repeat(400);
    const long = large(20_000);
    for (const place of long.places) place.className = names;
    long.gone = Array(20_000).fill(names);
    expect(Buffer.byteLength(text(markdown(long)))).toBeLessThan(1 << 20);
  });
});

describe("annotations for GitHub", () => {
  /** What GitHub's own library writes for an error. */
  function written(message: string, properties: { title: string; file: string }): string {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    try {
      error(message, properties);
      return write.mock.calls.map(([piece]) => String(piece)).join("");
    } finally {
      write.mockRestore();
    }
  }

  test("are the golden ones", async () => {
    const lines = text(githubAnnotations(brokenAnswer(), MODULE));
    await expect(lines).toMatchFileSnapshot("golden/check-annotations.txt");
  });

  test.each([...HOSTILE_NAMES, "100%, sure: yes"])(
    "are escaped as GitHub's own library does: %j",
    (name) => {
      const answer = brokenAnswer(growingPlace({ className: name }));
      const [line] = text(githubAnnotations(answer, `a,b:c%${name}`)).split("\n") as [string];
      const decoded = /^::error title=(.*?),file=(.*?)::(.*)$/.exec(line) as unknown as string[];
      const [title, file, message] = decoded.slice(1).map(decodeURIComponent) as [
        string,
        string,
        string,
      ];
      expect(`${line}\n`).toBe(written(message, { title, file }));
      const shown = name.split("\n").map(escapeUnprintable).join("\n");
      expect(file).toBe(`a,b:c%${shown}`);
      expect(title).toMatch(VISIBLE);
    },
  );

  test("do not control the terminal that shows the log", () => {
    const answer = brokenAnswer(growingPlace({ className: "A\u001b[2J\u202e\rB" }));
    const lines = text(githubAnnotations(answer, MODULE));
    expect(lines).toContain("A\\u{1b}[2J\\u{202e}\\rB");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(lines).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  test("are at most the ten that GitHub shows, of which the last counts the others", () => {
    const lines = text(githubAnnotations(large(100), MODULE))
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(10);
    expect(lines[9]).toContain("title=92 more");
  });

  test("of a passed check are none", () => {
    expect(text(githubAnnotations(passedAnswer(), MODULE))).toBe("");
  });
});

describe("a place whose constructor is known", () => {
  const source = (file: string) => growingPlace({ source: { file, line: 12, column: 5 } });
  const inRepository = [join(process.cwd(), "src/pages.js"), pathToFileURL("src/pages.js").href];
  /** Where the first result of a place is, by both reports. */
  function shownAt(file: string) {
    const answer = brokenAnswer(source(file));
    const lines = [...githubAnnotations(answer, MODULE)];
    const line = lines.find((one) => one.includes("title=leak")) ?? "";
    const log = JSON.parse(text(sarif(answer, MODULE, "0.1.0"))) as Log;
    const results = log.runs[0]?.results ?? [];
    const result = results.find(({ codeFlows }) => codeFlows !== undefined);
    const found = result?.locations?.[0]?.physicalLocation;
    return { line, uri: found?.artifactLocation?.uri, region: found?.region };
  }

  test.each(inRepository)("is at its line of the code: %s", (file) => {
    const { line, uri, region } = shownAt(file);
    expect(line).toContain(`file=${join("src", "pages.js")},line=12,col=5::`);
    expect([uri, region]).toEqual(["src/pages.js", { startLine: 12, startColumn: 5 }]);
  });

  test.each([
    "node:internal/timers",
    join(process.cwd(), "node_modules/a/index.js"),
    resolve(process.cwd(), "../other/pages.js"),
    "file://host/[",
    "evalmachine.<anonymous>",
  ])("is at the module if the file is not of the repository: %s", (file) => {
    const { line, uri, region } = shownAt(file);
    expect(line).toContain(`file=${MODULE}::`);
    expect([uri, region]).toEqual([MODULE, { startLine: 1 }]);
  });
});
