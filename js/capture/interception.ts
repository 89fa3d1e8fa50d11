// Replaces the functions of `WebAssembly`, so that each module that is compiled in this realm is
// exposed, and each instance of an exposed module is entered in the registry.
//
// A program sees no difference: the additional exports are hidden, classes can be extended,
// `instanceof` and property descriptors are unchanged, and a module that cannot be exposed is compiled
// unchanged. If an exposed module does not compile, the original is compiled, so that the program gets
// the error of the original. Each replacement is a proxy, which keeps names and other properties.

import { HeapAnalyzerError } from "../errors.js";
import { bindDumpImport, importsDump } from "./dump_import.js";
import {
  type PreparedSource,
  prepareBytes,
  prepareResponse,
  unprepared,
} from "./prepared_source.js";
import {
  type Exports,
  type Expose,
  enter,
  type HiddenExports,
  type PrepareExports,
  registry,
} from "./registry.js";
import { MEMORY, RESERVED_PREFIX, STACK_POINTER } from "./reserved_names.js";

type Callable = (...args: unknown[]) => unknown;
interface Descriptor {
  module: string;
  name: string;
  kind: string;
}

/** The parts of `WebAssembly` that are called here. */
interface WebAssemblyNamespace {
  Module: object & { prototype: object; imports: Callable };
  Instance: object & { prototype: object };
  compile: Callable;
  compileStreaming: Callable;
  instantiate: Callable;
}

/**
 * From now on, enters instances in the registry. Does nothing if there is no `WebAssembly`.
 *
 * @param expose changes modules. Without it, modules are compiled unchanged, and only instances of
 *   modules that were exposed at build time are entered.
 * @param prepareExports changes what a program sees of an instance.
 * @throws {HeapAnalyzerError} `ERR_WEBASSEMBLY_FROZEN`.
 */
export function interceptWebAssembly(expose?: Expose, prepareExports?: PrepareExports): void {
  registry.expose ??= expose;
  registry.prepareExports ??= prepareExports;
  const { WebAssembly } = globalThis as { WebAssembly?: WebAssemblyNamespace };
  if (WebAssembly === undefined || registry.isIntercepting) return;
  new Interception(WebAssembly).start();
  registry.isIntercepting = true;
}

class Interception {
  readonly #wasm: WebAssemblyNamespace;
  // The original functions.
  readonly #importsOf: Callable;
  readonly #exportsOf: Callable;
  readonly #compile: Callable;
  readonly #compileStreaming: Callable;
  readonly #instantiate: Callable;
  /** The exports of an instance that a program sees. */
  readonly #shownExports = new WeakMap<object, Exports>();

  constructor(wasm: WebAssemblyNamespace) {
    this.#wasm = wasm;
    this.#importsOf = wasm.Module.imports;
    const exports = Reflect.getOwnPropertyDescriptor(wasm.Instance.prototype, "exports");
    this.#exportsOf = exports?.get as Callable;
    this.#compile = wasm.compile;
    this.#compileStreaming = wasm.compileStreaming;
    this.#instantiate = wasm.instantiate;
  }

  start(): void {
    const wasm = this.#wasm;
    const { Module, Instance } = wasm;
    wrap(wasm, "Module", {
      construct: (target, args, newTarget) => this.#newModule(target, args, newTarget as Callable),
    });
    wrap(wasm, "Instance", {
      construct: (target, args, newTarget) =>
        this.#newInstance(target, args, newTarget as Callable),
    });
    define(Module.prototype, "constructor", { value: wasm.Module });
    define(Instance.prototype, "constructor", { value: wasm.Instance });
    wrap(Module, "exports", {
      apply: (target, self, args) => {
        const exports = Reflect.apply(target, self, args) as Descriptor[];
        return exports.filter(({ name }) => !name.startsWith(RESERVED_PREFIX));
      },
    });
    wrap(Instance.prototype, "exports", {
      apply: (target, self, args) => {
        const exports = Reflect.apply(target, self, args);
        return this.#shownExports.get(self as object) ?? exports;
      },
    });
    wrap(wasm, "compile", {
      apply: (_, __, [source, ...options]) =>
        this.#compileModule(this.#compile, prepareBytes(source), options),
    });
    wrap(wasm, "compileStreaming", {
      apply: async (_, __, [source, ...options]) =>
        this.#compileModule(this.#compileStreaming, await prepareResponse(source), options),
    });
    wrap(wasm, "instantiate", {
      apply: (target, _, [source, imports, ...options]) =>
        this.#isModule(source)
          ? this.#instantiateModule(source, imports)
          : this.#compileAndInstantiate(
              this.#compile,
              target,
              isObjectOrMissing(imports) ? prepareBytes(source) : unprepared(source),
              imports,
              options,
            ),
    });
    wrap(wasm, "instantiateStreaming", {
      apply: async (target, _, [source, imports, ...options]) =>
        this.#compileAndInstantiate(
          this.#compileStreaming,
          target,
          isObjectOrMissing(imports) ? await prepareResponse(source) : unprepared(source),
          imports,
          options,
        ),
    });
  }

  #newModule(target: Callable, args: unknown[], newTarget: Callable): object {
    const { exposed, refusal } = prepareBytes(args[0]);
    if (exposed !== undefined) {
      try {
        return Reflect.construct(target, [exposed, ...args.slice(1)], newTarget);
      } catch {
        // The original fails too, and the program gets its error.
      }
    }
    return withRefusal(Reflect.construct(target, args, newTarget), refusal);
  }

  #newInstance(target: Callable, args: unknown[], newTarget: Callable): object {
    const [module, imports] = args as [object, unknown];
    const bound = this.#bind(module, imports);
    const instance = Reflect.construct(target, [module, bound.imports], newTarget);
    bound.setInstance(this.#enter(instance, module));
    return instance;
  }

  // If the module cannot be exposed, the original function is called at once, because it copies the bytes.

  async #compileModule(
    compile: Callable,
    { exposed, original, refusal }: PreparedSource,
    options: unknown[],
  ): Promise<object> {
    const module = exposed && (await orUndefined(compile(exposed, ...options)));
    return (module ??
      withRefusal((await compile(original, ...options)) as object, refusal)) as object;
  }

  async #compileAndInstantiate(
    compile: Callable,
    instantiate: Callable,
    { exposed, original, refusal }: PreparedSource,
    imports: unknown,
    options: unknown[],
  ): Promise<{ module: object; instance: object }> {
    const compiled = exposed && (await orUndefined(compile(exposed, ...options)));
    if (compiled !== undefined) {
      const module = compiled as object;
      return { module, instance: await this.#instantiateModule(module, imports) };
    }
    const result = (await instantiate(original, imports, ...options)) as {
      module: object;
      instance: object;
    };
    this.#enter(result.instance, withRefusal(result.module, refusal));
    return result;
  }

  async #instantiateModule(module: object, imports: unknown): Promise<object> {
    const bound = this.#bind(module, imports);
    const instance = (await this.#instantiate(module, bound.imports)) as object;
    bound.setInstance(this.#enter(instance, module));
    return instance;
  }

  #bind(module: unknown, imports: unknown) {
    return this.#isModule(module) && importsDump(this.#importsOf(module) as Descriptor[])
      ? bindDumpImport(imports)
      : { imports, setInstance: () => {} };
  }

  /** Whether a value is a module, of this realm or another one. */
  #isModule(value: unknown): value is object {
    try {
      this.#importsOf(value);
      return true;
    } catch {
      return false;
    }
  }

  /** Enters an instance in the registry, if its module was exposed. */
  #enter(instance: object, module: object): HiddenExports | undefined {
    const exports = Reflect.apply(this.#exportsOf, instance, []) as Exports;
    if (!(STACK_POINTER in exports)) {
      refuse([instance, exports, exports.memory], registry.refusals.get(module));
      return undefined;
    }
    const shown: Record<string, unknown> = Object.create(null);
    const hidden: Record<string, unknown> = Object.create(null);
    for (const name of Object.keys(exports)) {
      (name.startsWith(RESERVED_PREFIX) ? hidden : shown)[name] = exports[name];
    }
    const memory = hidden[MEMORY] as object | undefined;
    if (memory !== undefined) registry.prepareExports?.(shown, hidden);
    this.#shownExports.set(instance, Object.freeze(shown));
    if (memory === undefined) {
      refuse([instance, shown], NO_MEMORY);
      return undefined;
    }
    const imports = this.#importsOf(module) as Descriptor[];
    const ownMemories = imports.some(({ kind }) => kind === "memory") ? [] : [memory];
    const functions = Object.values(shown).filter((value) => typeof value === "function");
    enter(hidden, [instance, shown, ...functions, ...ownMemories], memory);
    return hidden;
  }
}

/** The result of a compilation; undefined if it fails. Compiling the original then throws the error that the program gets. */
async function orUndefined(compilation: unknown): Promise<unknown> {
  try {
    return await compilation;
  } catch {
    return undefined;
  }
}

const NO_MEMORY = "it has no memory, so there is no heap";

/** Stores why a module was not exposed, for the error of a capture. */
function withRefusal(module: object, refusal: string | undefined): object {
  refuse([module], refusal);
  return module;
}

/** Stores for each object why it cannot be captured. */
function refuse(owners: readonly unknown[], refusal: string | undefined): void {
  if (refusal === undefined) return;
  for (const owner of owners) {
    // An export called `memory` may be a number or another primitive.
    if (Object(owner) === owner) registry.refusals.set(owner as object, refusal);
  }
}

/** Whether `WebAssembly.instantiate` accepts a value as imports. */
function isObjectOrMissing(imports: unknown): boolean {
  return imports === undefined || (Object(imports) as unknown) === imports;
}

/** Replaces a function, or the getter of an accessor, by a proxy of it. Skips what is missing. */
function wrap(owner: object, name: string, traps: ProxyHandler<Callable>): void {
  const { value, get } = ownDescriptor(owner, name);
  // Without a prototype, so that properties of `Object.prototype` do not count as traps.
  const handler: ProxyHandler<Callable> = Object.assign(Object.create(null), traps);
  if (typeof value === "function") define(owner, name, { value: new Proxy(value, handler) });
  else if (get !== undefined) define(owner, name, { get: new Proxy(get, handler) });
}

/** Changes only the value or the getter of a property. */
function define(owner: object, name: string, change: PropertyDescriptor): void {
  const descriptor = Object.assign(ownDescriptor(owner, name), change);
  if (!Reflect.defineProperty(owner, name, descriptor)) {
    throw new HeapAnalyzerError(
      "ERR_WEBASSEMBLY_FROZEN",
      `cannot replace WebAssembly's ${name}, because the object is frozen: load ` +
        "@warpo/heap-analyzer/register before the code that freezes it, and do not run Node with --frozen-intrinsics",
    );
  }
}

/** The descriptor of a property, without a prototype: properties of `Object.prototype` do not belong to it. */
function ownDescriptor(owner: object, name: string): PropertyDescriptor {
  return Object.assign(Object.create(null), Reflect.getOwnPropertyDescriptor(owner, name));
}
