/**
 * What programs of users have, and other random programs do not: a start function that does something before the first
 * managed object, libraries whose classes have visitors of their own, and other versions of the compiler.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Compiler } from "../support/compile.ts";
import type { Random } from "./stream.ts";
import type { Shape } from "./variable.ts";

/** The file that is bundled is at the same depth. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Where `npm run test:full -- asc-packages` installs libraries and compilers. */
const PACKAGES = join(ROOT, "__test__/asc_packages");

export type LibraryName = "none" | "vlib" | "as-variant" | "json-as";

interface Library {
  imports: string;
  shapes: Shape[];
  /** Options of `asc`. */
  flags: string[];
}

/** What is unusual about a program. */
export interface Unusual {
  /** What the start function does first. */
  start: string;
  library: LibraryName;
  compiler: Compiler;
}

/** Statements by their names, with a number that the program exports, so that no optimiser removes them. */
const STARTS: Record<string, { source: string; value: string }> = {
  nothing: { source: "", value: "0" },
  "raw memory": { source: "const scratch: usize = heap.alloc(64);", value: "<i32>scratch" },
  "much raw memory": {
    source: "const scratch: usize = heap.alloc(200000);",
    value: "<i32>scratch",
  },
  "an unmanaged class": {
    source: "@unmanaged class Before { number: i32 = 7; }\nconst before0: Before = new Before();",
    value: "before0.number",
  },
  "an indirect call": {
    source:
      "type Step = (x: i32) => i32;\nfunction plusOne(x: i32): i32 { return x + 1; }\n" +
      "let chosen: Step = plusOne;\nlet called: i32 = chosen(3);",
    value: "called",
  },
  recursion: {
    source:
      "function deep(n: i32): i32 { return n ? deep(n - 1) + (n & 3) : 0; }\nlet found: i32 = deep(400);",
    value: "found",
  },
  "a loop": {
    source:
      "function mix(n: i32): i32 { let c = 0; for (let i = 0; i < n; i++) c = (c * 31 + i) ^ (c >> 3); return c; }\n" +
      "let mixed: i32 = mix(600000);",
    value: "mixed",
  },
  "larger memory": { source: "let pages: i32 = memory.grow(1);", value: "pages" },
  "static memory": {
    source: "let segment: usize = memory.data(64);\nmemory.fill(segment, 7, 64);",
    value: "load<u8>(segment)",
  },
  "a trap that the host prevents": {
    source:
      '@external("env", "cfg") declare function cfg(): i32;\nlet setting: i32 = cfg();\nif (setting == 1) unreachable();',
    value: "setting",
  },
};

const text = (word: string) => `"${word} " + i.toString()`;

const VLIB: Shape[] = [
  (name) => ({
    declaration: `let ${name}: Maybe = new Maybe();`,
    fill: `${name}.set(new Key(${text("maybe")}), (i & 1) == 0);`,
    shrink: `${name} = new Maybe();`,
  }),
  (name, { object }) => ({
    declaration: `const ${name}: Tagged[] = [];`,
    fill:
      `{ const one = new Tagged(); if (i & 1) one.setKey(new Key(${text("tag")})); ` +
      `else one.setNumber(<u64>changetype<usize>(${object})); ${name}.push(one); }`,
    shrink: `${name}.length = 1;`,
  }),
  (name) => ({
    declaration: `const ${name}: Map<i32, Boxed> = new Map();`,
    fill: `{ const one = new Boxed(); if (i % 3) one.setKey(new Key(${text("box")})); else one.setNumber(<u64>i); ${name}.set(i & 7, one); }`,
    shrink: `${name}.delete(1);`,
  }),
  (name) => ({
    declaration: `let ${name}: Pool = new Pool();`,
    fill: `if (${name}.length < 60) ${name}.add(new Key(${text("pool")}));`,
    shrink: `${name}.length = 1;`,
  }),
  (name) => ({
    declaration: `const ${name}: Pool[] = [];`,
    fill: `{ const one = new Pool(); one.add(new Key(${text("pools")})); ${name}.push(one); }`,
    shrink: `${name}.length = 1;`,
  }),
  (name) => ({
    declaration: `let ${name}: Ring = new Ring();`,
    fill: `${name}.add(new Key(${text("ring")}));`,
    shrink: `${name}.added = 1;`,
  }),
  (name) => ({
    declaration: `const ${name}: Flagged[] = [];`,
    fill: `{ const one = new Flagged(); one.set(new Key(${text("flag")}), (i & 1) == 0); ${name}.push(one); }`,
    shrink: `${name}.length = 2;`,
  }),
  (name) => ({
    declaration: `const ${name}: Guest[] = [];`,
    fill: `{ const one = new Guest(); one.set(new Key(${text("guest")})); ${name}.push(one); }`,
    shrink: `${name}.length = 2; keepGuests(false);`,
  }),
  (name) => ({
    declaration: `let ${name}: Usual = new Usual();`,
    fill: `${name}.set(new Key(${text("usual")}));`,
    shrink: `${name} = new Usual();`,
  }),
];

const VARIANTS: Shape[] = [
  (name, { object }) => ({
    declaration: `const ${name}: Variant[] = [];`,
    fill: `${name}.push(Variant.from(${text("variant")})); ${name}.push(Variant.from(i)); ${name}.push(Variant.from(${object}));`,
    shrink: `${name}.length = 2;`,
  }),
  (name) => ({
    declaration: `const ${name}: Map<i32, Variant> = new Map();`,
    fill: `${name}.set(i & 7, Variant.from<i32[]>([i, 2]));`,
    shrink: `${name}.delete(2);`,
  }),
];

const JSONS: Shape[] = [
  (name) => ({
    declaration: `const ${name}: JSON.Value[] = [];`,
    fill: `${name}.push(JSON.Value.from(${text("value")})); ${name}.push(JSON.Value.from(i));`,
    shrink: `${name}.length = 1;`,
  }),
  (name) => ({
    declaration: `const ${name}: Map<string, JSON.Obj> = new Map();`,
    fill: `{ const parsed = JSON.parse<JSON.Obj>('{"id":' + i.toString() + ',"tags":["a","b"],"deep":{"x":1.5}}'); parsed.set("more", ${text("more")}); ${name}.set("k" + (i & 3).toString(), parsed); }`,
    shrink: `${name}.delete("k1");`,
  }),
  (name) => ({
    declaration: `let ${name}: JSON.Arr[] = [];`,
    fill: `${name}.push(JSON.parse<JSON.Arr>('["one", 2, ["three", {"four": "five' + i.toString() + '"}]]'));`,
    shrink: `${name} = [];`,
  }),
];

const LIBRARIES: Record<LibraryName, Library> = {
  none: { imports: "", shapes: [], flags: [] },
  vlib: {
    imports:
      'import { Boxed, Flagged, Guest, keepGuests, Key, Maybe, Plain as Usual, Pool, Ring, Tagged } from "vlib";',
    shapes: VLIB,
    flags: [],
  },
  "as-variant": {
    imports: 'import { Variant } from "as-variant/assembly";',
    shapes: VARIANTS,
    flags: [],
  },
  "json-as": {
    imports: 'import { JSON } from "json-as";',
    shapes: JSONS,
    flags: ["--transform", "json-as/transform"],
  },
};

const LIBRARY_NAMES: LibraryName[] = [
  "none",
  "none",
  "vlib",
  "vlib",
  "vlib",
  "as-variant",
  "json-as",
];
const COMPILERS: Compiler[] = [
  "assemblyscript",
  "assemblyscript-0.27",
  "asc-0.26",
  "asc-0.25",
  "asc-0.24",
];

/** As-variant and json-as are written for the newest compiler. */
export function chooseUnusual(random: Random): Unusual {
  const starts = Object.keys(STARTS);
  const start = starts[random(starts.length)] as string;
  const library = LIBRARY_NAMES[random(LIBRARY_NAMES.length)] as LibraryName;
  const isOfNewest = library === "as-variant" || library === "json-as";
  const compiler = COMPILERS[isOfNewest ? 0 : random(COMPILERS.length)] as Compiler;
  return { start, library, compiler };
}

/** For people. */
export function describeUnusual({ start, library, compiler }: Unusual): string {
  const of = library === "none" ? "no library" : library;
  return `${compiler}, ${of}, starts with ${start}`;
}

/** What the source of the program begins with. */
export function beginning({ start, library }: Unusual): string {
  const { source, value } = STARTS[start] as (typeof STARTS)[string];
  return `${LIBRARIES[library].imports}\n${source}\nexport function started(): i32 { return ${value}; }`;
}

export function shapesOf({ library }: Unusual): Shape[] {
  return LIBRARIES[library].shapes;
}

/** What the compiler needs for it. */
export function compilation({ library, compiler }: Unusual) {
  const vlib = join(ROOT, "__test__/programs/own_visits/library/index.ts");
  return {
    compiler,
    flags: LIBRARIES[library].flags,
    files: {
      baseDir: PACKAGES,
      sources: { "node_modules/vlib/index.ts": readFileSync(vlib, "utf8") },
    },
  };
}
