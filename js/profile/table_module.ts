/** Modules with a hash table in their memory, which an instrumented module calls without a detour through the host. */

// The types of `WebAssembly` are not part of the library that this project compiles with.
declare const WebAssembly: {
  Module: new (wasm: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
};

/** What each of them exports, beside its functions. */
export interface TableExports<Shift> {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): void };
  /** How far a hash is shifted to be the number of a slot. */
  shift: { value: Shift };
  /** The offset of the last slot in the table. */
  last: { value: number };
}

const PAGE = 65_536;

const compiled = new Map<() => Uint8Array, object>();

/** A new instance of a module, which is compiled once. */
export function instantiated<Exports>(wasm: () => Uint8Array, host: object): Exports {
  const module = compiled.get(wasm) ?? new WebAssembly.Module(wasm());
  compiled.set(wasm, module);
  return new WebAssembly.Instance(module, { host }).exports as Exports;
}

/**
 * Makes room for this number of bytes. The buffer of the memory is another one afterwards.
 *
 * @throws RangeError if the memory cannot grow.
 */
export function makeRoom({ memory }: TableExports<unknown>, bytes: number): void {
  memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / PAGE));
}
