/** The whole state of an instance, to be put back after an experiment. */

export class InstanceState {
  readonly #memory: Uint8Array;
  readonly #globals: [WebAssembly.Global, unknown][];
  readonly #live: WebAssembly.Memory;

  /** @param exports those of an instance that exports all its mutable globals. */
  constructor(exports: WebAssembly.Exports) {
    this.#live = exports.memory as WebAssembly.Memory;
    this.#memory = new Uint8Array(this.#live.buffer.slice(0));
    this.#globals = Object.entries(exports).flatMap(([name, value]) =>
      name.startsWith("judge:") && value instanceof WebAssembly.Global
        ? [[value, value.value] as [WebAssembly.Global, unknown]]
        : [],
    );
  }

  restore(): void {
    if (this.#live.buffer.byteLength !== this.#memory.byteLength)
      throw new Error("the memory grew during an experiment");
    new Uint8Array(this.#live.buffer).set(this.#memory);
    for (const [global, value] of this.#globals) global.value = value;
  }
}
