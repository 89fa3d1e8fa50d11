/** The transform for `asc`: the sections that it adds to a module, and its errors. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import AscTransform from "@warpo/heap-analyzer/asc-transform";
import { afterEach, describe, expect, test } from "vitest";
import type { DebugInfoDescription } from "../dist/asc_transform/description.mjs";
import {
  compile,
  compileDescribed,
  OPTIMISED,
  programNames,
  runCompiler,
} from "./support/compile.ts";
import { someOf } from "./support/nightly.ts";
import { readWasmModule } from "./support/wasm_module.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const ASC = join(ROOT, "node_modules/assemblyscript/bin/asc.js");
const SECTIONS = ["debug_info", "debug_abbrev", "debug_str"];
const SOURCE = `
  class Node { next: Node | null = null; }
  let head: Node | null = null;
  export function push(): void { const node = new Node(); node.next = head; head = node; }
`;

const compileSource = (source: string, ...flags: string[]) =>
  runCompiler(["entry.ts", ...flags], {
    sources: { "entry.ts": source },
    transform: true,
  });

/** What the transform describes of a program. */
async function describeSource(source: string): Promise<DebugInfoDescription> {
  const { description } = await compileDescribed("entry", ["--debug"], {
    sources: { "entry.ts": source },
  });
  return description;
}

function classNamed(description: DebugInfoDescription, name: string) {
  const found = description.classes.find((candidate) => candidate.name === name);
  if (!found)
    throw new Error(
      `no class ${name} among ${description.classes.map((candidate) => candidate.name).join(", ")}`,
    );
  const typeName = (of: { class: number } | { base: string }) =>
    "base" in of ? of.base : description.classes[of.class]?.name;
  return {
    runtimeId: found.runtimeId,
    base: found.base === undefined ? undefined : description.classes[found.base]?.name,
    typeArguments: found.typeArguments.map(typeName),
    fields: found.fields.map((field) => `${field.offset} ${field.name}: ${typeName(field.of)}`),
  };
}

describe("the exports that it adds", () => {
  test.each([
    ["--debug"],
    ["-O3", "--debug"],
    ["-Oz", "--debug"],
    ["-O3", "--converge", "--debug"],
  ])("the three sections are there after %s %s %s", async (...flags) => {
    const { customSections } = readWasmModule((await compileSource(SOURCE, ...flags)).wasm);
    for (const name of SECTIONS) expect(customSections.get(name)?.length).toBeGreaterThan(0);
    expect(customSections.has("name")).toBe(true);
  });

  test.each([["--debug"], ["-O3", "--debug"], ["-Oz", "--debug"]])(
    "the heap's bounds are exported after %s %s",
    async (...flags) => {
      const { wasm } = await compileSource(SOURCE, ...flags);
      const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), {
        env: { abort: () => {} },
      });
      const bound = (name: string) =>
        (instance.exports[name] as WebAssembly.Global).value as number;
      expect(bound("__data_end")).toBeGreaterThan(0);
      expect(bound("__stack_pointer")).toBe(bound("__heap_base"));
      expect(bound("__heap_base") - bound("__data_end")).toBe(32768);
    },
  );

  test("an export of the program with such a name is not changed", async () => {
    const { wasm } = await compileSource(
      `${SOURCE} export function __heap_base(): i32 { return 1; }`,
      "--debug",
    );
    expect([...readWasmModule(wasm).globalExports.keys()]).not.toContain("__heap_base");
  });

  test("without mutable globals the stack pointer is not exported, and the module is valid", async () => {
    const { wasm } = await compileSource(SOURCE, "--debug", "--disable", "mutable-globals");
    const { globalExports } = readWasmModule(wasm);
    expect([...globalExports.keys()].sort()).toEqual(["__data_end", "__heap_base", "__rtti_base"]);
  });

  test("the code is the same as without it", async () => {
    const withIt = await compileSource(SOURCE, "--debug");
    const without = await runCompiler(["entry.ts", "--debug"], { sources: { "entry.ts": SOURCE } });
    expect(codeSection(withIt.wasm)).toEqual(codeSection(without.wasm));
  });
});

describe("the description", () => {
  test("fields have the compiler's offsets, and inherited fields are not listed", async () => {
    const description = await describeSource(`
      class Base { flag: bool; wide: f64; name: string = ""; }
      class Derived extends Base { byte: u8; next: Derived | null = null; count: usize; }
      export let root: Derived | null = new Derived();
    `);
    expect(classNamed(description, "entry/Base").fields).toEqual([
      "0 flag: bool",
      "8 wide: f64",
      "16 name: ~lib/string/String",
    ]);
    expect(classNamed(description, "entry/Derived")).toMatchObject({
      base: "entry/Base",
      fields: ["20 byte: u8", "24 next: entry/Derived", "28 count: usize"],
    });
  });

  test("containers have type arguments, and their entries are classes with id 0", async () => {
    const description = await describeSource(`
      class Key {}
      export let map = new Map<Key, i64>();
      export let set = new Set<string>();
      map.set(new Key(), 1);
      set.add("a");
    `);
    expect(classNamed(description, "~lib/map/Map<entry/Key,i64>").typeArguments).toEqual([
      "entry/Key",
      "i64",
    ]);
    expect(classNamed(description, "~lib/map/MapEntry<entry/Key,i64>")).toMatchObject({
      runtimeId: 0,
      fields: ["0 key: entry/Key", "8 value: i64", "16 taggedNext: usize"],
    });
    expect(classNamed(description, "~lib/set/SetEntry<~lib/string/String>").fields).toEqual([
      "0 key: ~lib/string/String",
      "4 taggedNext: usize",
    ]);
  });

  test("nullable type arguments are spelt as the compiler spells them", async () => {
    const description = await describeSource(`export let list: Array<string | null> = [];`);
    expect(
      classNamed(description, "~lib/array/Array<~lib/string/String|null>").typeArguments,
    ).toEqual(["~lib/string/String"]);
  });

  test("an interface has an id and no members", async () => {
    const description = await describeSource(`
      interface Shape { label: string; area(): f64; }
      class Circle implements Shape { label: string = ""; area(): f64 { return 1; } }
      export let shape: Shape | null = new Circle();
    `);
    const shape = classNamed(description, "entry/Shape");
    expect(shape.runtimeId).toBeGreaterThan(3);
    expect(shape.fields).toEqual([]);
  });

  test("an unmanaged class that a field refers to has id 0", async () => {
    const description = await describeSource(`
      @unmanaged class Raw { x: i32; }
      class Holder { raw: Raw = changetype<Raw>(0); }
      export let holder = new Holder();
    `);
    expect(classNamed(description, "entry/Holder").fields).toEqual(["0 raw: entry/Raw"]);
    expect(classNamed(description, "entry/Raw")).toMatchObject({
      runtimeId: 0,
      fields: ["0 x: i32"],
    });
  });

  test("a function type is described as a class, with or without values", async () => {
    const description = await describeSource(`
      class Listener { used: (x: i32) => i32 = (x: i32): i32 => x; unused: ((s: string, n: i32) => void) | null = null; }
      export let listener = new Listener();
    `);
    expect(classNamed(description, "entry/Listener").fields).toEqual([
      "0 used: ~lib/function/Function<(i32)=>i32>",
      "4 unused: ~lib/function/Function<(~lib/string/String,i32)=>void>",
    ]);
    const used = classNamed(description, "~lib/function/Function<(i32)=>i32>");
    expect(used.runtimeId).toBeGreaterThan(3);
    expect(used.fields).toEqual(["0 _index: u32", "4 _env: usize"]);
    expect(
      classNamed(description, "~lib/function/Function<(~lib/string/String,i32)=>void>").runtimeId,
    ).toBeUndefined();
  });

  test("globals are those that the collector visits", async () => {
    const description = await describeSource(`
      class Item { static shared: Item | null = new Item(); static count: i32 = 1; }
      @unmanaged class Raw {}
      namespace a { export namespace b { export let inner = new Item(); } }
      let used = new Item();
      let unused = new Item();
      export let raw: Raw = changetype<Raw>(0);
      export let number = 1;
      export let callback: () => void = () => {};
      @inline const inlined: Item[] = [];
      export function main(): i32 { return Item.count + inlined.length + (a.b.inner == used ? 1 : 0) + (Item.shared ? 1 : 0); }
    `);
    const names = description.globals
      .map(({ name }) => name)
      .filter((name) => name.startsWith("entry/"));
    expect(names.sort()).toEqual([
      "entry/Item.shared",
      "entry/a.b.inner",
      "entry/inlined",
      "entry/unused",
      "entry/used",
    ]);
  });

  test("a global has a constant value exactly if it begins with one", async () => {
    const description = await describeSource(`
      class Item {}
      export let list: Item[] = [];
      export let text = "text";
      export let nothing: Item | null = null;
      export let implicit: Item | null;
      export let made = new Item();
      export let chosen: Item | null = list.length ? made : null;
    `);
    const own = description.globals.filter(({ name }) => name.startsWith("entry/"));
    const constants = own.filter(({ constantValue }) => constantValue !== undefined);
    expect(
      constants.map(
        ({ name, constantValue }) => `${name} ${constantValue === 0 ? "null" : "address"}`,
      ),
    ).toEqual([
      "entry/list address",
      "entry/text address",
      "entry/nothing null",
      "entry/implicit null",
    ]);
  });

  test.each(someOf(programNames, 4))(
    "%s: every global that an optimised build has lost has a constant value",
    async (name) => {
      const { description, wasm } = await compile(name, OPTIMISED);
      const left = new Set(readWasmModule(wasm).globals.map((global) => global.name));
      expect(
        description.globals.filter(
          ({ name, constantValue }) => !left.has(name) && constantValue === undefined,
        ),
      ).toEqual([]);
    },
  );

  test("optimised builds do lose globals", async () => {
    const { description, wasm } = await compile("roots", OPTIMISED);
    const left = new Set(readWasmModule(wasm).globals.map((global) => global.name));
    expect(
      description.globals.map(({ name }) => name).filter((global) => !left.has(global)),
    ).toEqual(
      expect.arrayContaining(["roots/staticArray", "roots/inlined", "roots/neverAssigned"]),
    );
  });
});

describe("its messages", () => {
  test("a build without --debug is warned about", async () => {
    const { stderr } = await compileSource(SOURCE, "-O3");
    expect(stderr).toBe(
      "@warpo/heap-analyzer/asc-transform: warning: compiled without --debug, so the module has no name section and " +
        "its globals cannot be found in a dump; add --debug (it works together with -O3)\n",
    );
  });

  test("a build with --debug is silent", async () => {
    expect((await compileSource(SOURCE, "--debug")).stderr).toBe("");
  });

  test("the runtime stub is refused, and minimal is not", async () => {
    await expect(compileSource(SOURCE, "--debug", "--runtime", "stub")).rejects.toThrow(
      /asc-transform: the runtime is stub: expected --runtime incremental \(the default\) or minimal/,
    );
    const { stderr } = await compileSource(SOURCE, "--debug", "--runtime", "minimal");
    expect(stderr).toBe("");
  });

  test("a compiler that hands out no class table is refused", () => {
    const transform = Object.assign(new AscTransform(), { program: 1234 });
    expect(() => transform.afterCompile({} as never)).toThrow(
      /cannot read the compiler's class table: .* --wasm/,
    );
  });
});

describe("how it is found", () => {
  const run = promisify(execFile);
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** A project that depends on this package, somewhere else on the disk. */
  function project(): string {
    const parent = join(ROOT, "build");
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, "project-"));
    folders.push(folder);
    writeFileSync(join(folder, "entry.ts"), SOURCE);
    const installed = join(folder, "node_modules/@warpo/heap-analyzer");
    mkdirSync(dirname(installed), { recursive: true });
    symlinkSync(ROOT, installed, "junction");
    return folder;
  }

  test("on the command line, by the package's name", async () => {
    const folder = project();
    const flags = [
      "entry.ts",
      "--debug",
      "--transform",
      "@warpo/heap-analyzer/asc-transform",
      "--outFile",
      "out.wasm",
    ];
    await run(process.execPath, [ASC, ...flags], { cwd: folder });
    const { customSections } = readWasmModule(readFileSync(join(folder, "out.wasm")));
    expect([...customSections.keys()]).toEqual(expect.arrayContaining(SECTIONS));
  });

  test("together with generated bindings, which work", async () => {
    const folder = project();
    const flags = [
      "entry.ts",
      "--debug",
      "--transform",
      "@warpo/heap-analyzer/asc-transform",
      "--outFile",
      "out.wasm",
      "--bindings",
      "raw",
    ];
    await run(process.execPath, [ASC, ...flags], { cwd: folder });
    const { instantiate } = (await import(
      /* @vite-ignore */ pathToFileURL(join(folder, "out.js")).href
    )) as {
      instantiate(module: WebAssembly.Module, imports: object): Promise<{ push(): void }>;
    };
    const exports = await instantiate(
      await WebAssembly.compile(readFileSync(join(folder, "out.wasm"))),
      { env: {} },
    );
    expect(() => exports.push()).not.toThrow();
  });
});

function codeSection(wasm: Uint8Array): Uint8Array {
  const code = readWasmModule(wasm).sections.get(10);
  if (!code) throw new Error("no code section");
  return code;
}
