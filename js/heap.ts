/** The class `Heap` of the public API: a heap that is opened once and asked many times. */
import type * as api from "../index.js";
import { flag, path, readOptions, text, viewRequest, wholeNumber } from "./arguments.js";
import { bytes, invalidArgument } from "./bytes.js";
import * as native from "./native.js";
import { comparisonView, constructorView } from "./views.js";
import { controlled } from "./work.js";

/** Only this module creates heaps. */
const TOKEN = Symbol("heap");

/** A question in the form in which the engine reads it. */
type Question = { question: string } & Record<string, unknown>;

export class Heap implements api.Heap {
  readonly #handle: native.HeapHandle;
  /** Questions that are being answered off the event loop. */
  readonly #running = new Set<native.WorkControl>();
  #isClosed = false;

  constructor(token: symbol, handle: native.HeapHandle) {
    if (token !== TOKEN) throw new TypeError("call openHeap to get a Heap");
    this.#handle = handle;
  }

  get accounting(): api.Accounting {
    return JSON.parse(this.#handle.accounting());
  }

  get warnings(): api.Warning[] {
    return this.#handle.warnings() as api.Warning[];
  }

  get partial(): boolean {
    return this.#handle.isPartial();
  }

  constructors(options?: api.ViewOptions<api.ConstructorSort>): api.ConstructorView {
    return constructorView(this.#handle.constructors(viewRequest(options)));
  }

  compareWith(
    before: api.Heap,
    options?: api.ViewOptions<api.ComparisonSort>,
  ): api.ComparisonView {
    const request = viewRequest(options);
    return comparisonView(this.#handle.compareWith(handleOf("before", before), request));
  }

  summary(): api.SummaryAnswer {
    return this.#ask({ question: "summary" });
  }

  find(options?: api.FindOptions): api.FindAnswer {
    return this.#ask(findQuestion(options));
  }

  findAsync(options?: api.FindOptions & api.AsyncOptions): Promise<api.FindAnswer> {
    return this.#askAsync(() => findQuestion(options), options);
  }

  object(address: number): api.ObjectAnswer {
    return this.#ask(objectQuestion(address));
  }

  objectAsync(address: number, options?: api.AsyncOptions): Promise<api.ObjectAnswer> {
    return this.#askAsync(() => objectQuestion(address, options), options);
  }

  referrers(address: number, options?: api.PageOptions): api.ReferrersAnswer {
    return this.#ask(referrersQuestion(address, options));
  }

  referrersAsync(
    address: number,
    options?: api.PageOptions & api.AsyncOptions,
  ): Promise<api.ReferrersAnswer> {
    return this.#askAsync(() => referrersQuestion(address, options), options);
  }

  paths(target: never, options?: api.PathsOptions): never {
    const { question, before } = pathsQuestion(target, options);
    return this.#ask(question, before);
  }

  pathsAsync(target: never, options?: api.PathsOptions & api.AsyncOptions): Promise<never> {
    return this.#askAsync(() => pathsQuestion(target, options), options);
  }

  dominators(options?: never): never {
    return this.#ask(dominatorsQuestion(options));
  }

  dominatorsAsync(options?: never): Promise<never> {
    return this.#askAsync(() => dominatorsQuestion(options), options);
  }

  suspects(options?: api.SuspectsOptions): api.SuspectsAnswer {
    const { question, before } = suspectsQuestion(options);
    return this.#ask(question, before);
  }

  suspectsAsync(
    options?: api.SuspectsOptions & api.AsyncOptions,
  ): Promise<api.SuspectsAnswer> {
    return this.#askAsync(() => suspectsQuestion(options), options);
  }

  close(): void {
    this.#isClosed = true;
    this.#handle.close();
    for (const control of this.#running) control.cancel();
  }

  /** The handle of a heap that a caller passed. */
  static handleOf(name: string, value: unknown): native.HeapHandle {
    if (typeof value !== "object" || value === null || !(#handle in value)) {
      throw invalidArgument(name, "a Heap", value);
    }
    return value.#handle;
  }

  #ask<Answer>(question: Question, before?: native.HeapHandle): Answer {
    return JSON.parse(this.#handle.ask(JSON.stringify(question), before).text);
  }

  async #askAsync<Answer>(
    read: () => Question | AskedWith,
    options: api.AsyncOptions | undefined,
  ): Promise<Answer> {
    const asked = read();
    const { question, before } = isAskedWith(asked)
      ? asked
      : { question: asked, before: undefined };
    const answer = await controlled(options, async (control) => {
      this.#running.add(control);
      try {
        return await this.#handle.askAsync(
          JSON.stringify(question),
          before,
          undefined,
          control,
        );
      } catch (error) {
        // The question was aborted because the heap was closed.
        throw this.#isClosed ? closedError() : error;
      } finally {
        this.#running.delete(control);
      }
    });
    return JSON.parse(answer.text);
  }
}

// Node 20 before 20.5 has no such symbol.
if (Symbol.dispose !== undefined) {
  Object.defineProperty(Heap.prototype, Symbol.dispose, {
    value: Heap.prototype.close,
    configurable: true,
    writable: true,
  });
}
