// The documents: all codes of errors are explained, links lead somewhere, and the README is short.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(__dirname, "..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** The files below a folder whose names end like this. */
function below(folder: string, end: RegExp): string[] {
  return (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
    .filter((name) => end.test(name) && !/(^|[\\/])(node_modules|target|dist)[\\/]/.test(name))
    .map((name) => join(folder, name));
}

const SOURCES = ["js", "src", "crates", "packages/mcp/src"].flatMap((folder) =>
  below(folder, /\.(ts|mts|rs)$/).filter((file) => !/[\\/]tests[\\/]/.test(file)),
);
const DOCUMENTS = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...below("docs", /\.md$/),
  "benches/README.md",
];

/** Codes of Node, which the source only compares. */
const OF_NODE = ["ERR_HTTP_REQUEST_TIMEOUT", "ERR_STREAM_PREMATURE_CLOSE"];

/** The codes that a text names. */
function codesIn(text: string): Set<string> {
  return new Set(text.match(/\b(?:ERR_[A-Z0-9]+(?:_[A-Z0-9]+)*|ABORT_ERR)\b/g));
}

test("docs/errors.md explains every code of an error in the source, and no other", () => {
  // A text that ends with `_` or `…` names a group.
  const thrown = new Set(SOURCES.flatMap((file) => [...codesIn(read(file))]));
  for (const code of OF_NODE) thrown.delete(code);
  const explained = codesIn(read("docs/errors.md"));
  expect([...explained].sort()).toEqual([...thrown].sort());
});

test("a code that is not explained would be noticed", () => {
  expect(codesIn('throw new E("ERR_NEW_CODE")')).toEqual(new Set(["ERR_NEW_CODE"]));
});

/** The anchors of a document: its headings as GitHub writes them. */
function anchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("each link leads to a file, and to a heading of it", () => {
  test.each(DOCUMENTS)("%s", (document) => {
    const text = read(document).replace(/```[\s\S]*?```/g, "");
    for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link as string)) continue;
      const [path, anchor] = (link as string).split("#") as [string, string | undefined];
      const file = path === "" ? document : join(dirname(document), path);
      expect(existsSync(join(ROOT, file)), link).toBe(true);
      if (anchor !== undefined && file.endsWith(".md")) {
        expect(anchors(read(file)), link).toContain(anchor);
      }
    }
  });
});

test("README.md has at most 700 words", () => {
  expect(read("README.md").split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(700);
});

test("README.md says what is not released before it says how to install", () => {
  const text = read("README.md");
  expect(text.indexOf("not published yet")).toBeGreaterThan(0);
  expect(text.indexOf("not published yet")).toBeLessThan(text.indexOf("npm install"));
});

/** The words of a page without blocks of code, and without what `just generate` writes. */
const wordsOf = (text: string) =>
  text
    .replace(/```[\s\S]*?```/g, "")
    .replace(/<!-- Written by[\s\S]*?<!-- The end of what is written. -->/g, "")
    .split(/\s+/)
    .filter(Boolean).length;

test("docs has at most 14 pages and 20,000 words that people write", () => {
  // The reference of methods is generated; the codes of errors and warnings are looked up, not read.
  const pages = readdirSync(join(ROOT, "docs")).filter((name) => /(?<!^json-rpc)\.md$/.test(name));
  const prose = pages.filter((name) => name !== "errors.md");
  const words = prose.map((name) => wordsOf(read(`docs/${name}`)));
  expect(pages.length).toBeLessThanOrEqual(14);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20_000);
});

test("code and generated tables are no words of a page", () => {
  expect(wordsOf("one two\n```sh\nthree\n```\nfour")).toBe(3);
});
