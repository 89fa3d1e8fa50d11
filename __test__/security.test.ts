// SECURITY.md says nothing that no test holds: each claim names tests that exist, and its list of unsafe code is that of
// the code.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = resolve(__dirname, "..");
const SECURITY = readFileSync(join(ROOT, "SECURITY.md"), "utf8");

/** The text of the section with this heading. */
function section(heading: string): string {
  const [, ...rest] = SECURITY.split(`\n## ${heading}\n`);
  expect(rest, heading).toHaveLength(1);
  return (rest[0] as string).split("\n## ")[0] as string;
}

/** The rows of the only table in a text, without its head, each as its cells. */
function table(text: string): string[][] {
  const rows = text.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((row) => row.slice(2, -2).split(" | "));
}

/** The rows of all tables in a text, without their heads. */
function tables(text: string): string[][] {
  return text.split(/\n\n/).flatMap((part) => (part.startsWith("| ") ? table(part) : []));
}

/** The files below some folders whose names end like this, with `/` in their paths. */
function filesBelow(folders: readonly string[], end: string): string[] {
  return folders.flatMap((folder) => {
    let names: string[];
    try {
      names = readdirSync(join(ROOT, folder), { recursive: true }) as string[];
    } catch {
      // The engine lies in one of two folders.
      return [];
    }
    const kept = names.filter(
      (name) => name.endsWith(end) && !/(^|[\\/])(target|node_modules)[\\/]/.test(name),
    );
    return kept.map((name) => `${folder}/${name.split(sep).join("/")}`);
  });
}

const TESTS = [
  ...filesBelow(["src", "crates", "tests", "fuzz/tests", "fuzz/src"], ".rs"),
  ...filesBelow(["__test__"], ".ts"),
];

/** Whether a file has a test of this title, or in Rust of this name. */
function hasTest(path: string, title: string): boolean {
  const text = readFileSync(join(ROOT, path), "utf8");
  if (path.endsWith(".rs")) return new RegExp(`#\\[test\\]\\s+fn ${title}\\(`).test(text);
  return text.includes(`"${title}",`);
}

interface Claim {
  claim: string;
  tests: { file: string; title: string }[];
}

/** The claims with their tests: `file`: `title`, `title`; `file`: … */
const CLAIMS: Claim[] = [
  ...table(section("Which test holds which claim")),
  ...tables(section("A program that is attached to")),
].map(([claim, cell]) => {
  const tests = (cell as string).split("; `").flatMap((part) => {
    const [, file, titles] = /^`?([^`]+)`: (.*)$/.exec(part) as unknown as [string, string, string];
    return [...titles.matchAll(/`([^`]+)`/g)].map(([, title]) => ({
      file,
      title: title as string,
    }));
  });
  return { claim: claim as string, tests };
});

describe("a claim of SECURITY.md", () => {
  test.each(CLAIMS)("is held by tests that exist: $claim", ({ tests }) => {
    expect(tests).not.toEqual([]);
    for (const { file, title } of tests) {
      const paths = TESTS.filter((path) => `/${path}`.endsWith(`/${file}`));
      expect(paths, file).not.toEqual([]);
      expect(
        paths.some((path) => hasTest(path, title)),
        `${file}: ${title}`,
      ).toBe(true);
    }
  });

  test("whose test is missing would be noticed", () => {
    const [path] = TESTS.filter((each) => each.endsWith("tests/it/bounds.rs")) as [string];
    expect(hasTest(path, "bases_that_lead_back_to_a_class_end")).toBe(true);
    expect(hasTest(path, "bases_that_lead_back")).toBe(false);
    expect(hasTest("__test__/security.test.ts", "is no title of any test")).toBe(false);
  });

  test("about a bound is in both tables", () => {
    const bounds = table(section("What is counted")).map(([name]) =>
      (name as string).replace(/ \(.*\)$/, ""),
    );
    const held = CLAIMS.flatMap(({ claim }) => /^bound: (.*)$/.exec(claim)?.[1] ?? []);
    expect(held).toEqual(bounds);
  });
});

/** What rests on unsafe code although calling or deriving it may be safe. */
const WATCHED = [
  "alloc_zeroed",
  "alloc::alloc",
  "from_raw_parts",
  "from_raw_fd",
  "into_raw_fd",
  "from_utf8_unchecked",
  "get_unchecked",
  "transmute",
  "assume_init",
  "set_len",
  "sysconf",
  "madvise",
  "unchecked_advise",
  "unchecked_advise_range",
  "Mmap::map",
  "MmapMut::map_mut",
  "map_anon",
  "asm!",
  "_mm_prefetch",
  "to_napi_value",
  "from_napi_value",
  "try_zeroed_slice_box",
  "derive(Zeroable)",
];

/** The code of a Rust file without comments and texts. */
function codeOf(rust: string): string {
  return rust.replace(/\/\/.*|"(?:[^"\\]|\\[\s\S])*"/g, "");
}

/** Whether code contains this name, as a whole. */
function contains(code: string, name: string): boolean {
  if (name === "derive(Zeroable)") return /derive\([^)]*\bZeroable\b/.test(code);
  return new RegExp(`(?<!\\w)${name}(?!\\w)`).test(code);
}

/** What a Rust file contains of this; nothing if it is safe. */
function unsafeIn(rust: string): { count: number; watched: string[] } | undefined {
  const code = codeOf(rust);
  const count = [...code.matchAll(/\bunsafe\b/g)].length;
  const watched = WATCHED.filter((name) => contains(code, name));
  return count === 0 && watched.length === 0 ? undefined : { count, watched };
}

describe("unsafe code", () => {
  test("the list of unsafe code in SECURITY.md is that of the code", () => {
    // Not the tests and the benchmark, which do not ship.
    const shipped = filesBelow(["src", "crates"], ".rs").filter(
      (path) => !/\/(tests|benches)\//.test(path),
    );
    const found = shipped.flatMap((path) => {
      const inside = unsafeIn(readFileSync(join(ROOT, path), "utf8"));
      return inside ? [{ file: path.split("/").at(-1), ...inside }] : [];
    });
    const listed = table(section("Unsafe code")).map(([file, count, what]) => ({
      file: file?.replaceAll("`", ""),
      count: Number(count),
      watched: WATCHED.filter((name) => what?.includes(`\`${name}\``)),
    }));
    const byFile = (one: { file?: string }, other: { file?: string }) =>
      (one.file as string) < (other.file as string) ? -1 : 1;
    expect(listed.sort(byFile)).toEqual(found.sort(byFile));
  });

  test("is found in every form, and only in code", () => {
    const forms = {
      "unsafe { read(place) }": { count: 1, watched: [] },
      "unsafe impl Zero for u8 {}": { count: 1, watched: [] },
      "#[derive(Clone, Zeroable)] struct Node;": { count: 0, watched: ["derive(Zeroable)"] },
      "let start = std::alloc::alloc_zeroed(layout);": { count: 0, watched: ["alloc_zeroed"] },
      "Vec::from_raw_parts(start, 1, 1)": { count: 0, watched: ["from_raw_parts"] },
      "map.unchecked_advise(advice)": { count: 0, watched: ["unchecked_advise"] },
    };
    for (const [code, inside] of Object.entries(forms)) expect(unsafeIn(code)).toEqual(inside);
    for (const code of [
      "// unsafe { }",
      'let text = "unsafe";',
      "let unsafe_count = 1;",
      "__rust_alloc_zeroed",
    ]) {
      expect(unsafeIn(code), code).toBe(undefined);
    }
  });
});
