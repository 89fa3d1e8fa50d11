/**
 * A small WebAssembly reader of the tests' own, so that the judge shares no code with the judged:
 * global variables, their names, exports, and a rewriter that exports globals.
 */

export interface WasmGlobal {
  index: number;
  /** 0x7f is i32. */
  type: number;
  mutable: boolean;
  /** From the name section. */
  name?: string;
}

export interface WasmModule {
  /** Contents of the sections that are not custom, by id. */
  sections: Map<number, Uint8Array>;
  customSections: Map<string, Uint8Array>;
  globals: WasmGlobal[];
  /** Exported globals: name to index. */
  globalExports: Map<string, number>;
}

export const TYPE_I32 = 0x7f;

const SECTION_CUSTOM = 0;
const SECTION_IMPORT = 2;
const SECTION_GLOBAL = 6;
const SECTION_EXPORT = 7;
const KIND_FUNCTION = 0;
const KIND_GLOBAL = 3;
const NAME_SUBSECTION_FUNCTIONS = 1;
const NAME_SUBSECTION_GLOBALS = 7;

class Cursor {
  constructor(
    readonly bytes: Uint8Array,
    public at = 0,
    readonly end = bytes.length,
  ) {}

  get done(): boolean {
    return this.at >= this.end;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error(`the module ends at ${this.at}`);
    return value;
  }

  /** Unsigned LEB128 below 2^32. */
  number(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  }

  skipLeb(): void {
    while (this.byte() >= 0x80);
  }

  name(): string {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.take(this.number()));
  }

  take(length: number): Uint8Array {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  limits(): void {
    const flags = this.byte();
    this.skipLeb();
    if (flags & 1) this.skipLeb();
  }

  initialValue(): void {
    for (;;) {
      const opcode = this.byte();
      if (opcode === 0x0b) return;
      if (
        opcode === 0x41 ||
        opcode === 0x42 ||
        opcode === 0x23 ||
        opcode === 0xd0 ||
        opcode === 0xd2
      )
        this.skipLeb();
      else if (opcode === 0x43) this.at += 4;
      else if (opcode === 0x44) this.at += 8;
      else if (opcode === 0xfd) {
        this.skipLeb();
        this.at += 16;
      } else throw new Error(`opcode ${opcode} in the initial value of a global`);
    }
  }
}

interface Section {
  id: number;
  start: number;
  contents: Cursor;
}

function* sections(wasm: Uint8Array): Generator<Section> {
  const cursor = new Cursor(wasm, 8);
  while (!cursor.done) {
    const start = cursor.at;
    const id = cursor.byte();
    const length = cursor.number();
    yield { id, start, contents: new Cursor(wasm, cursor.at, cursor.at + length) };
    cursor.at += length;
  }
}

export function readWasmModule(wasm: Uint8Array): WasmModule {
  const module: WasmModule = {
    sections: new Map(),
    customSections: new Map(),
    globals: [],
    globalExports: new Map(),
  };
  const addGlobal = (type: number, mutable: boolean) =>
    module.globals.push({ index: module.globals.length, type, mutable });
  for (const { id, contents } of sections(wasm)) {
    if (id !== SECTION_CUSTOM) module.sections.set(id, wasm.subarray(contents.at, contents.end));
    if (id === SECTION_CUSTOM) {
      const name = contents.name();
      module.customSections.set(name, wasm.subarray(contents.at, contents.end));
    } else if (id === SECTION_IMPORT) {
      for (let left = contents.number(); left > 0; left--) {
        contents.name();
        contents.name();
        const kind = contents.byte();
        if (kind === 0) contents.number();
        else if (kind === 1) {
          contents.byte();
          contents.limits();
        } else if (kind === 2) contents.limits();
        else addGlobal(contents.byte(), contents.byte() === 1);
      }
    } else if (id === SECTION_GLOBAL) {
      for (let left = contents.number(); left > 0; left--) {
        addGlobal(contents.byte(), contents.byte() === 1);
        contents.initialValue();
      }
    } else if (id === SECTION_EXPORT) {
      for (let left = contents.number(); left > 0; left--) {
        const name = contents.name();
        const kind = contents.byte();
        const index = contents.number();
        if (kind === KIND_GLOBAL) module.globalExports.set(name, index);
      }
    }
  }
  for (const [index, name] of namesIn(module, NAME_SUBSECTION_GLOBALS)) {
    const global = module.globals[index];
    if (global) global.name = name;
  }
  return module;
}

/** The index of a function with this name. */
export function functionNamed(wasm: Uint8Array, wanted: string): number | undefined {
  for (const [index, name] of namesIn(readWasmModule(wasm), NAME_SUBSECTION_FUNCTIONS))
    if (name === wanted) return index;
  return undefined;
}

function* namesIn({ customSections }: WasmModule, subsection: number): Generator<[number, string]> {
  const nameSection = customSections.get("name");
  if (!nameSection) return;
  const cursor = new Cursor(nameSection);
  while (!cursor.done) {
    const id = cursor.byte();
    const length = cursor.number();
    const contents = new Cursor(nameSection, cursor.at, cursor.at + length);
    cursor.at += length;
    if (id !== subsection) continue;
    for (let left = contents.number(); left > 0; left--) yield [contents.number(), contents.name()];
  }
}

/** The same module with more exported globals: export name to global index. */
export function exportGlobals(
  wasm: Uint8Array,
  exports: Map<string, number>,
): Uint8Array<ArrayBuffer> {
  return addExports(wasm, KIND_GLOBAL, exports);
}

/** The same module with one more exported function. */
export function exportFunction(
  wasm: Uint8Array,
  name: string,
  index: number,
): Uint8Array<ArrayBuffer> {
  return addExports(wasm, KIND_FUNCTION, new Map([[name, index]]));
}

function addExports(
  wasm: Uint8Array,
  kind: number,
  exports: Map<string, number>,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [wasm.subarray(0, 8)];
  for (const { id, start, contents } of sections(wasm)) {
    if (id !== SECTION_EXPORT) {
      parts.push(wasm.subarray(start, contents.end));
      continue;
    }
    const body = [leb(contents.number() + exports.size), wasm.subarray(contents.at, contents.end)];
    for (const [name, index] of exports) {
      const text = new TextEncoder().encode(name);
      body.push(leb(text.length), text, Uint8Array.of(kind), leb(index));
    }
    parts.push(Uint8Array.of(id), leb(body.reduce((sum, part) => sum + part.length, 0)), ...body);
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** The remaining part of a name section. */
export type NamesLeft = "all" | "functions" | "globals" | "half" | "none";

/** The same module without names, as the compiler writes it without `--debug`. */
export function withoutNames(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  return withNames(wasm, "none");
}

/** The same module with these names only. `half` leaves out every other name of each kind. */
export function withNames(wasm: Uint8Array, left: NamesLeft): Uint8Array<ArrayBuffer> {
  return replaceCustomSections(wasm, (name, contents) => {
    if (name !== "name" || left === "all") return contents;
    return left === "none" ? undefined : reduceNames(contents, left);
  });
}

function reduceNames(nameSection: Uint8Array, left: NamesLeft): Uint8Array {
  const parts: Uint8Array[] = [];
  const cursor = new Cursor(nameSection);
  while (!cursor.done) {
    const id = cursor.byte();
    const contents = cursor.take(cursor.number());
    if (left === "functions" && id !== NAME_SUBSECTION_FUNCTIONS) continue;
    if (left === "globals" && id !== NAME_SUBSECTION_GLOBALS) continue;
    const isNameMap = id === NAME_SUBSECTION_FUNCTIONS || id === NAME_SUBSECTION_GLOBALS;
    if (left === "half" && !isNameMap) continue;
    const kept = left === "half" ? everyOtherName(contents) : contents;
    parts.push(Uint8Array.of(id), leb(kept.length), kept);
  }
  return Buffer.concat(parts);
}

function everyOtherName(nameMap: Uint8Array): Uint8Array {
  const cursor = new Cursor(nameMap);
  const entries: Uint8Array[] = [];
  for (let left = cursor.number(); left > 0; left--) {
    const start = cursor.at;
    cursor.number();
    cursor.name();
    entries.push(nameMap.subarray(start, cursor.at));
  }
  const kept = entries.filter((_, at) => at % 2 === 0);
  return Buffer.concat([leb(kept.length), ...kept]);
}

/** The same module with other custom sections: contents that are not given remove the section. */
export function replaceCustomSections(
  wasm: Uint8Array,
  replace: (name: string, contents: Uint8Array) => Uint8Array | undefined,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [wasm.subarray(0, 8)];
  for (const { id, start, contents } of sections(wasm)) {
    if (id !== SECTION_CUSTOM) {
      parts.push(wasm.subarray(start, contents.end));
      continue;
    }
    const name = contents.name();
    const replaced = replace(name, wasm.subarray(contents.at, contents.end));
    if (replaced) parts.push(customSection(name, replaced));
  }
  return new Uint8Array(Buffer.concat(parts));
}

/** The same module with more custom sections at its end. */
export function addCustomSections(
  wasm: Uint8Array,
  sections: Map<string, Uint8Array>,
): Uint8Array<ArrayBuffer> {
  const added = [...sections].map(([name, contents]) => customSection(name, contents));
  return new Uint8Array(Buffer.concat([wasm, ...added]));
}

function customSection(name: string, contents: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(name);
  const body = [leb(text.length), text, contents];
  const length = body.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.of(SECTION_CUSTOM), leb(length), ...body]);
}

function leb(value: number): Uint8Array {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return Uint8Array.from([...bytes, value]);
}
