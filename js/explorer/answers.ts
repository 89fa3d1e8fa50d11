/** Answers what a page asks about open dumps. */
import type { Heap } from "../../index.js";
import { growthAsync } from "../growth.js";
import { heapHandle } from "../heap.js";
import { moduleFileOf } from "../module_file.js";
import * as native from "../native.js";
import { type ReportData, reportData } from "../report_data.js";
import { QuestionError } from "../served/errors.js";
import { classes } from "../served/questions/classes.js";
import { type Found, type Listed, listed } from "../served/questions/found.js";
import { dominators, find, object, pathsOf } from "../served/questions/objects.js";
import { invalid, pageOf, textOf } from "../served/questions/parameters.js";
import { growth, sites } from "../served/questions/places.js";
import { controlled } from "../work.js";
import type { Dumps } from "./dumps.js";
import { InstanceLists } from "./instances.js";
import type { Method, Methods, SourceRow } from "./methods.js";
import type { TakenDump } from "./taking.js";
import { withoutStrings } from "./without_strings.js";

/** Lines of source. */
const MOST_SITES = 200;

type QuestionAnswers = {
  [M in Method]: (
    request: Methods[M]["request"],
    signal: AbortSignal,
  ) => Promise<Methods[M]["answer"]>;
};

export class Answerer {
  readonly #dumps: Dumps;
  readonly #lists = new InstanceLists();
  readonly #hasStrings: boolean;
  readonly #profile: Uint8Array | undefined;
  /** Takes a dump of the program that runs. */
  take: (() => Promise<TakenDump>) | undefined;

  /** `profile` is the heap profile of the dump that has one. */
  constructor(dumps: Dumps, hasStrings: boolean, profile?: Uint8Array) {
    this.#dumps = dumps;
    this.#profile = profile;
    this.#hasStrings = hasStrings;
    dumps.onClose = (heap) => this.#lists.forget(heap);
  }

  /** Answers a request whose shape was not checked. The signal stops the work. */
  async answer(method: string, request: unknown, signal: AbortSignal): Promise<unknown> {
    const answers: QuestionAnswers = {
      status: async () => this.#dumps.status(),
      take: () => this.#take(),
      report: (request, signal) => this.#report(request, signal),
      classes: (request) => this.#classes(request),
      instances: (request, signal) => this.#instances(request, signal),
      find: (request, signal) => this.#find(request, signal),
      object: ({ heap, ...wanted }, signal) =>
        this.#about(heap, (open) => object(open, wanted, { signal })),
      paths: async ({ heap, address }, signal) => ({
        object: await this.#about(heap, (open) => pathsOf(open, address, { signal })),
      }),
      dominators: ({ heap, ...wanted }, signal) =>
        this.#about(heap, (open) => dominators(open, wanted, { signal })),
      sites: (request, signal) => this.#sites(request, signal),
      line: (request, signal) => this.#line(request, signal),
      sources: (request) => this.#sources(request),
      growth: (request, signal) => this.#growth(request, signal),
    };
    if (!Object.hasOwn(answers, method)) {
      throw new QuestionError("ERR_NO_ROUTE", `there is no method ${method.slice(0, 100)}`);
    }
    const found = await answers[method as Method](checked(request) as never, signal);
    return this.#hasStrings || method === "status" || method === "take"
      ? found
      : withoutStrings(found);
  }

  async #take(): Promise<TakenDump> {
    if (this.take === undefined) {
      throw new QuestionError("ERR_NOT_ALLOWED", "dumps are taken only after open --attach");
    }
    const { name, warnings } = await this.take();
    return { name, warnings };
  }

  async #report(
    { heap, before }: Methods["report"]["request"],
    signal: AbortSignal,
  ): Promise<ReportData> {
    return await this.#dumps.use(heap, async (open) => {
      const ask = async (earlier: Heap | undefined) => {
        const handle = earlier === undefined ? undefined : heapHandle("before", earlier);
        const question = JSON.stringify({ question: "report" });
        const native = heapHandle("heap", open);
        const start = (control: native.WorkControl) =>
          native.askAsync(question, handle, undefined, control);
        return (await controlled({ signal }, start)).text;
      };
      const isCompared = typeof before === "string";
      const text = isCompared
        ? await this.#dumps.use(before, ask).catch((error: { code?: unknown }) => {
            // Dumps of two builds have no objects in common.
            if (error.code !== "ERR_MODULE_MISMATCH") throw error;
            return ask(undefined);
          })
        : await ask(undefined);
      return reportData(text, this.#hasStrings);
    });
  }

  async #classes({
    heap,
    ...wanted
  }: Methods["classes"]["request"]): Promise<Methods["classes"]["answer"]> {
    return await this.#dumps.use(heap, async (open) =>
      paged(classes(await this.#lists.view(open), wanted)),
    );
  }

  async #instances(
    request: Methods["instances"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["instances"]["answer"]> {
    const { set = "live", sort = "retained", ascending = false, before } = request;
    const wanted = { className: textOf("class", request.class), set, sort, ascending };
    const { limit, offset } = pageOf(request);
    return await this.#dumps.use(request.heap, async (open) => {
      const list = async (earlier: Heap | undefined) => {
        const found = await this.#lists.page(open, earlier, wanted, offset, limit);
        // What was deleted is only in the earlier dump.
        const heap = set === "deleted" && earlier !== undefined ? earlier : open;
        const objects = await Promise.all(
          found.addresses.map(async (address, nth) => {
            const { addressText, preview, retainedParts } = await heap.objectAsync(address, {
              signal,
            });
            return {
              address,
              addressText,
              shallowSize: found.shallowSizes[nth] as number,
              retainedSize: found.retainedSizes[nth] as number,
              preview,
              ...(retainedParts === undefined ? {} : { retainedParts }),
            };
          }),
        );
        const page = listed(found.total, offset, objects.length);
        return { objects, shallowSize: found.shallowSize, page };
      };
      if (set === "live" || typeof before !== "string") return await list(undefined);
      return await this.#dumps.use(before, list);
    });
  }

  async #find(
    { heap, before, strings, where, ...rest }: Methods["find"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["find"]["answer"]> {
    // True for every string, and for nothing else.
    const condition = strings === true ? 'this.startsWith("")' : where;
    const ask = (earlier: Heap | undefined) =>
      this.#about(heap, (open) =>
        find(open, { ...rest, where: condition, before: earlier }, { signal }),
      );
    return typeof before === "string" ? await this.#dumps.use(before, ask) : await ask(undefined);
  }

  /** Asks a question about one open dump. */
  async #about<B>(
    handle: string,
    ask: (open: Heap) => Promise<Found<B>>,
  ): Promise<B & { page: Listed }> {
    return await this.#dumps.use(handle, async (open) => paged(await ask(open)));
  }

  async #sites(
    { heap }: Methods["sites"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["sites"]["answer"]> {
    const profile = this.#profileOf(heap);
    const asked = { limit: MOST_SITES };
    return await this.#about(heap, (open) =>
      sites({ heap: open, profile }, undefined, asked, { signal }),
    );
  }

  async #line(
    { heap, address }: Methods["line"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["line"]["answer"]> {
    const profile = this.#profileOf(heap);
    if (!(Number.isInteger(address) && address >= 0 && address < 2 ** 32)) {
      throw invalid("address must be a whole number of 32 bits");
    }
    return await this.#dumps.use(heap, async (open) => {
      const handle = heapHandle("heap", open);
      const { text } = await controlled({ signal }, (control) =>
        native.allocationLineAsync(handle, profile, address, control),
      );
      return { line: JSON.parse(text) };
    });
  }

  #profileOf(heap: string): Uint8Array {
    const profile = this.#profile;
    if (profile === undefined || heap !== this.#dumps.profiled) {
      throw invalid("there is no profile of this dump");
    }
    return profile;
  }

  async #sources({
    heap,
    ...asked
  }: Methods["sources"]["request"]): Promise<Methods["sources"]["answer"]> {
    const { limit, offset } = pageOf(asked);
    const { lines, hasModules } = await this.#dumps.lines(heap);
    const known = new Map(lines.map(({ className, file, line }) => [className, { file, line }]));
    const view = await this.#dumps.use(heap, (open) => this.#lists.view(open));
    const all = view.constructors.flatMap(({ className }): SourceRow[] => {
      const place = known.get(className);
      if (place !== undefined) return [{ className, ...place }];
      const file = hasModules ? moduleFileOf(className) : undefined;
      return file === undefined ? [] : [{ className, file, line: null }];
    });
    const rows = all.slice(offset, offset + limit);
    return { rows, page: listed(all.length, offset, rows.length) };
  }

  async #growth(
    request: Methods["growth"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["growth"]["answer"]> {
    return paged(await growth(growthAsync, await this.#dumps.tables(), request, signal));
  }
}

function checked(request: unknown): object {
  if (typeof request === "object" && request !== null) return request;
  throw invalid("the parameters must be an object");
}

/** A body with the page of its list, whole. */
function paged<B>({ body, page }: Found<B>): B & { page: Listed } {
  const { list, total, offset } = page ?? { list: "", total: 0, offset: 0 };
  const count = (body as Record<string, unknown[] | undefined>)[list]?.length ?? 0;
  return { ...body, page: listed(total, offset, count) };
}
