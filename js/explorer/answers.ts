/** Answers what a page asks about open dumps. */
import type { Heap } from "../../index.js";
import { growthAsync } from "../growth.js";
import { heapHandle } from "../heap.js";
import type { WorkControl } from "../native.js";
import { type ReportData, reportData } from "../report_file.js";
import { QuestionError } from "../served/errors.js";
import { matcher } from "../served/glob.js";
import { controlled } from "../work.js";
import type { Dumps } from "./dumps.js";
import { InstanceLists } from "./instances.js";
import type { Listed, Method, Methods } from "./methods.js";
import { withoutStrings } from "./without_strings.js";

/** Entries of a page, if the request does not say it, and at most. */
const LIMIT = 50;
const MOST = 1000;
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
      report: (request, signal) => this.#report(request, signal),
      classes: (request) => this.#classes(request),
      instances: (request, signal) => this.#instances(request, signal),
      find: (request, signal) => this.#find(request, signal),
      object: (request, signal) => this.#object(request, signal),
      paths: (request, signal) => this.#paths(request, signal),
      dominators: (request, signal) => this.#dominators(request, signal),
      sites: (request, signal) => this.#sites(request, signal),
      growth: (request, signal) => this.#growth(request, signal),
    };
    if (!Object.hasOwn(answers, method)) {
      throw new QuestionError("ERR_NO_ROUTE", `there is no method ${method.slice(0, 100)}`);
    }
    const found = await answers[method as Method](checked(request) as never, signal);
    return this.#hasStrings || method === "status" ? found : withoutStrings(found);
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
        const start = (control: WorkControl) =>
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

  async #classes(request: Methods["classes"]["request"]): Promise<Methods["classes"]["answer"]> {
    return await this.#dumps.use(request.heap, async (open) => {
      const { constructors, totalLiveSize } = await this.#lists.view(open);
      const isWanted = request.class === undefined ? () => true : matcher(text(request.class));
      const part = text(request.contains ?? "").toLowerCase();
      const all = constructors.filter(
        ({ className }) => isWanted(className) && className.toLowerCase().includes(part),
      );
      const { limit, offset } = pageOf(request);
      const rows = all.slice(offset, offset + limit).map((row) => ({
        className: row.className,
        count: row.count,
        shallowSize: row.totalShallowSize,
        retainedSize: row.retainedSetSize ?? 0,
      }));
      return { totalLiveSize, rows, page: listed(all.length, offset, rows.length) };
    });
  }

  async #instances(
    request: Methods["instances"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["instances"]["answer"]> {
    const { set = "live", sort = "retained", ascending = false, before } = request;
    const wanted = { className: text(request.class), set, sort, ascending };
    const { limit, offset } = pageOf(request);
    return await this.#dumps.use(request.heap, async (open) => {
      const list = async (earlier: Heap | undefined) => {
        const found = await this.#lists.page(open, earlier, wanted, offset, limit);
        // What was deleted is only in the earlier dump.
        const heap = set === "deleted" && earlier !== undefined ? earlier : open;
        const objects = await Promise.all(
          found.addresses.map(async (address, nth) => {
            const { addressText, preview } = await heap.objectAsync(address, { signal });
            return {
              address,
              addressText,
              shallowSize: found.shallowSizes[nth] as number,
              retainedSize: found.retainedSizes[nth] as number,
              preview,
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
    request: Methods["find"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["find"]["answer"]> {
    const { limit, offset } = pageOf(request);
    return await this.#dumps.use(request.heap, async (open) => {
      const { class: wanted, contains } = request;
      const { objects, total } = await open.findAsync({
        class: wanted,
        contains,
        limit,
        offset,
        signal,
      });
      return { objects, page: listed(total, offset, objects.length) };
    });
  }

  async #object(
    request: Methods["object"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["object"]["answer"]> {
    const { limit, offset } = pageOf(request);
    return await this.#dumps.use(request.heap, async (open) => {
      const { entries: count, entriesOffset: from } = request;
      const asked =
        count === undefined ? { signal } : { entries: count, offset: from ?? 0, signal };
      const found = await open.objectAsync(addressOf(request.address), asked);
      const { schemaVersion, partial, warnings, path, referrerCount, ...body } = found;
      const { referrers, total } =
        body.state === "live"
          ? await open.referrersAsync(body.address, { limit, offset, signal })
          : { referrers: [], total: 0 };
      // Those that alone keep it reachable come first.
      const sorted = [...referrers].sort(
        (left, right) => Number(right.independent) - Number(left.independent),
      );
      const entries = body.entries ?? null;
      return { ...body, entries, referrers: sorted, page: listed(total, offset, sorted.length) };
    });
  }

  async #paths(
    request: Methods["paths"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["paths"]["answer"]> {
    return await this.#dumps.use(request.heap, async (open) => {
      const found = await open.pathsAsync(addressOf(request.address), { signal });
      const { path, independentReferrers, freedByCuttingAll, cut } = found;
      return { object: { path, independentReferrers, freedByCuttingAll, cut } };
    });
  }

  async #dominators(
    request: Methods["dominators"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["dominators"]["answer"]> {
    const { limit, offset } = pageOf(request);
    const address = request.address === undefined ? undefined : addressOf(request.address);
    return await this.#dumps.use(request.heap, async (open) => {
      const asked = { address, limit, offset, signal };
      if (request.by === "class") {
        const { groups, total } = await open.dominatorsAsync({ ...asked, by: "class" });
        const children = groups.map((group) => ({ address: null, addressText: null, ...group }));
        return { children, page: listed(total, offset, children.length) };
      }
      const { children, total } = await open.dominatorsAsync(asked);
      const rows = children.map((child) => ({ ...child, count: 1 }));
      return { children: rows, page: listed(total, offset, rows.length) };
    });
  }

  async #sites(
    { heap }: Methods["sites"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["sites"]["answer"]> {
    const profile = this.#profile;
    if (profile === undefined || heap !== this.#dumps.profiled) {
      throw new QuestionError("ERR_INVALID_ARGUMENTS", "there is no profile of this dump");
    }
    return await this.#dumps.use(heap, async (open) => {
      const { exact, totalLiveSize, total, sites } = await open.sitesAsync({
        profile,
        limit: MOST_SITES,
        signal,
      });
      return { exact, totalLiveSize, total, sites };
    });
  }

  async #growth(
    request: Methods["growth"]["request"],
    signal: AbortSignal,
  ): Promise<Methods["growth"]["answer"]> {
    const { limit, offset } = pageOf(request);
    const tables = await this.#dumps.tables();
    const options = { warmup: request.warmup, limit, offset, signal };
    const { dumps, places, undecided, perInterval, total } = await growthAsync(tables, options);
    return { dumps, places, undecided, perInterval, page: listed(total, offset, places.length) };
  }
}

function checked(request: unknown): object {
  if (typeof request === "object" && request !== null) return request;
  throw new QuestionError("ERR_INVALID_ARGUMENTS", "the parameters must be an object");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new QuestionError("ERR_INVALID_ARGUMENTS", "a class must be a text");
}

/** An address as the page has it: `0x9540`, `38208`, or the id `@38208`. */
function addressOf(given: unknown): number {
  const shown = String(given).slice(0, 30);
  const isAddress = /^(0x[0-9a-fA-F]{1,8}|@?[0-9]{1,10})$/.test(shown);
  const address = isAddress ? Number(shown.replace("@", "")) : Number.NaN;
  if (address < 2 ** 32) return address;
  throw new QuestionError(
    "ERR_INVALID_ARGUMENTS",
    `${shown} is no address: expected one like 0x9540, or @1234 in a heap snapshot`,
  );
}

function pageOf({ limit = LIMIT, offset = 0 }: { limit?: number; offset?: number }) {
  const isPage = Number.isInteger(limit) && Number.isInteger(offset) && limit > 0 && offset >= 0;
  if (isPage && limit <= MOST && offset < 2 ** 32) return { limit, offset };
  const expected = `expected a limit from 1 to ${MOST} and an offset from 0`;
  throw new QuestionError("ERR_INVALID_ARGUMENTS", expected);
}

function listed(total: number, offset: number, count: number): Listed {
  const end = offset + count;
  return { total, offset, listed: count, next: end < total ? end : null };
}
