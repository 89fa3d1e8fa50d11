/** Which dumps there are, and what is in them. */
import type { Accounting, JoinedSums, SummaryAnswer, Warning } from "@warpo/heap-analyzer";
import { QuestionError } from "../../../../js/served/errors.ts";
import { LONGEST_TEXT } from "../../../../js/served/questions/parameters.ts";
import { givenAddress } from "../../../../js/units.ts";
import type { Container, HeapFiles, OpenHeap } from "../heaps.mts";
import { hostFiles } from "../host_files.mts";
import { formatCount, formatSize, inWords } from "../lines.mts";
import { type QuestionContext, question } from "../question.mts";
import { type RootFile, shortened } from "../roots.mts";
import * as s from "../schema.mts";

const file = s.named("file", s.object({ path: s.text(), size: s.size, modified: s.text() }));
/** Modules that an answer lists. */
const MODULES = 20;
/** Dumps that are described in full, so that there is room for the handles of many. */
const MOST_DETAILS = 4;
/** Dumps that one request opens. */
const MOST_DUMPS = 100;
/** Pointers of the host. */
const MOST_HOST_ROOTS = 10_000;
const MOST_GLOBALS = 1000;
const MOST_U32 = 2 ** 32 - 1;

export const listDumps = question({
  name: "list_dumps",
  title: "List dumps",
  description:
    "Which heap dumps, heap snapshots of V8 and WebAssembly modules are there? Start here if you do not know the paths. Lists them newest first.",
  basis: "Files are recognised by their first bytes.",
  input: {
    folder: s.optional(s.path, "only this folder and below"),
    ...s.page,
  },
  output: { dumps: s.list(file), modules: s.list(file), isIncomplete: s.flag },
  isPaged: true,
  isRepeatable: false,
  async ask({ folder, limit, offset }, { roots, control }) {
    const { dumps, modules, isIncomplete } = await roots.list(folder, control.signal);
    const body = {
      dumps: dumps.slice(offset, offset + limit),
      modules: modules.slice(0, MODULES),
      isIncomplete,
    };
    const page = { list: "dumps", total: dumps.length, offset };
    return { body, page, warnings: [], partial: false, isWithoutHeap: true };
  },
  render({ dumps, modules, isIncomplete }) {
    const line = ({ path, size: bytes, modified }: s.TypeOf<typeof file>) =>
      `${path}  ${formatSize(bytes)}  ${modified}`;
    return [
      dumps.length === 0 ? "No dumps." : "Dumps, newest first:",
      ...dumps.map(line),
      modules.length === 0 ? "No modules." : "Modules:",
      ...modules.map(line),
      ...(isIncomplete ? ["The search ended early: name a folder."] : []),
    ];
  },
});

const opened = s.object({
  heap: s.described(s.text(), "the handle for other tools"),
  dump: s.text(),
  totalHeapSize: s.optional(s.size, "absent for a heap snapshot of V8"),
  totalLiveSize: s.size,
  totalLiveParts: s.parts,
  liveObjects: s.count,
});

const details = s.object({
  dump: s.text(),
  wasm: s.described(s.nullable(s.text()), "null for a heap snapshot of V8"),
  ...s.fields<SummaryAnswer, "objects" | "classes" | "roots" | "categories">(
    "SummaryAnswer",
    "objects",
    "classes",
    "roots",
    "categories",
  ),
  bytes: s.described(
    s.nullable(
      s.object({
        live: s.object({ global: s.size, stack: s.size, pinned: s.size }),
        garbage: s.size,
        raw: s.size,
        free: s.size,
        other: s.size,
      }),
    ),
    "null for a heap snapshot of V8, which contains only what is alive",
  ),
  ...s.fields<SummaryAnswer, "joined">("SummaryAnswer", "joined"),
  collector: s.nullable(s.text()),
  ...s.fields<SummaryAnswer, "trap">("SummaryAnswer", "trap"),
});

const hostRoot = s.object({
  name: s.optional(s.text(LONGEST_TEXT), "what the host calls it"),
  address: s.whole(0, MOST_U32),
});

/** The values of a global. */
const global = s.object({
  name: s.described(s.text(LONGEST_TEXT), "its name, or its index in the module"),
  values: s.described(s.list(s.whole(-(2 ** 31), MOST_U32)), "one for each dump"),
});

interface OpeningParameters {
  partial: boolean;
  raw: boolean;
  coredumpInstance: number | undefined;
  host: string | undefined;
  numbers: string | undefined;
  handles: string | undefined;
  slots: string[];
}

const { partial, raw, ...inputs } = s.parameters<OpeningParameters>("opening");
/** How the files of dumps are read, beside their paths. */
const reading = {
  raw,
  globals: s.usually(
    s.list(global, { maxItems: MOST_GLOBALS }),
    [],
    "of raw memory: the values of mutable i32 globals",
  ),
  ...inputs,
  hostRoots: s.usually(
    s.list(hostRoot, { maxItems: MOST_HOST_ROOTS }),
    [],
    "of C, C++, Rust or Zig: pointers that the host held",
  ),
};

type Reading = s.ObjectOf<typeof reading>;

export const openHeaps = question({
  name: "open_heaps",
  title: "Open heaps",
  description:
    "What is in these dumps, in total? Opens one or more dumps of one module, or .heapsnapshot files of Node or Chrome, and returns for each a handle, which all other tools take, with bytes, object counts and roots. Name all dumps of a hunt in one call, in the order in which they were taken.",
  basis: "Bytes and objects are counted; live is what a global, the stack or a pin reaches.",
  input: {
    dumps: s.described(s.list(s.path, { minItems: 1, maxItems: MOST_DUMPS }), "paths of dumps"),
    wasm: s.optional(
      s.path,
      "the module of the dumps (default: the one beside the first dump, or in build there)",
    ),
    partial,
    ...reading,
  },
  output: {
    heaps: s.list(opened),
    details: s.described(s.list(details), `of at most ${MOST_DETAILS} dumps`),
  },
  isRepeatable: false,
  async ask({ dumps, wasm, partial, ...reading }, context) {
    const { roots, heaps, control } = context;
    const containers = dumps.map((_, nth) => containerOf(reading, nth, dumps.length));
    const files = await Promise.all(dumps.map((dump) => roots.file("dump", dump)));
    const modules: (RootFile | undefined)[] = [];
    for (const file of files) {
      const isWithoutModule =
        wasm === undefined && !reading.raw && (await roots.needsNoModule(file));
      const earlier = modules.find((module) => module !== undefined);
      modules.push(
        isWithoutModule ? undefined : (earlier ?? (await moduleOf(file, wasm, context))),
      );
    }
    const found: ShortAndFullSummary[] = [];
    const warnings: Warning[] = [];
    let isPartial = false;
    for (const [nth, dump] of files.entries()) {
      const part = (fraction: number, phase: string) =>
        control.progress((nth + fraction) / files.length, phase);
      const container = containers[nth];
      const source = {
        dump,
        wasm: modules[nth],
        partial,
        ...(container === undefined ? {} : { container }),
        ...(container?.host === undefined
          ? {}
          : { host: await hostFiles(roots, dump, container.host) }),
      };
      const summary = await heaps.open(
        source,
        { ...control, progress: part },
        async (heap, handle) => ({
          found: summaryOf(heap, handle, source),
          warnings: heap.heap.warnings,
          partial: heap.heap.partial,
        }),
      );
      found.push(summary.found);
      isPartial ||= summary.partial;
      const named = files.length === 1 ? "" : `${dump.shown}: `;
      warnings.push(
        ...summary.warnings.map(({ code, message }) => ({ code, message: named + message })),
      );
    }
    // For the questions that come next.
    heaps.prepareLater();
    const body = {
      heaps: found.map(([short]) => short),
      details: found.length > MOST_DETAILS ? [] : found.map(([, full]) => full),
    };
    return { body, warnings, partial: isPartial };
  },
  render({ heaps, details: described }) {
    return heaps.flatMap(({ heap, dump, totalHeapSize, liveObjects, ...one }) => {
      const bytes = inWords(one.totalLiveSize, one.totalLiveParts);
      const live = `live ${bytes} in ${formatCount(liveObjects)} objects`;
      const full = described.find((one) => one.dump === dump);
      if (full === undefined) return [`${live}; heap: ${heap}`];
      const classes = `${live} of ${formatCount(full.classes)} classes`;
      if (totalHeapSize === undefined || full.bytes === null) {
        return [`${dump}: ${classes}`, `heap: ${heap}`];
      }
      const { garbage, raw, free } = full.bytes;
      return [
        `${dump}: heap ${formatSize(totalHeapSize)}, ${classes}, ` +
          `garbage ${formatSize(garbage)}, raw ${formatSize(raw)}, free ${formatSize(free)}`,
        ...trapLine(full.trap),
        `heap: ${heap}`,
      ];
    });
  },
});

function trapLine(trap: s.TypeOf<typeof details>["trap"]): string[] {
  const [innermost] = trap?.frames ?? [];
  if (trap === undefined || innermost === undefined) return [];
  return [`a trap in ${innermost.function}, in ${formatCount(trap.total)} frames`];
}

/** What was said about the file of a dump beside its path. */
function containerOf(
  { raw, globals, coredumpInstance, hostRoots, host, numbers, handles, slots }: Reading,
  nth: number,
  dumps: number,
): Container | undefined {
  if (globals.length > 0 && !raw) {
    throw new QuestionError("ERR_INVALID_OPTION", "globals needs raw: other dumps have the values");
  }
  const wrong = globals.find(({ values }) => values.length !== dumps);
  if (wrong !== undefined) {
    throw new QuestionError(
      "ERR_INVALID_OPTION",
      `the global ${shortened(wrong.name)} has ${wrong.values.length} values: expected one for each of ${dumps} dumps`,
    );
  }
  if (host === undefined && (numbers !== undefined || handles !== undefined || slots.length > 0)) {
    throw new QuestionError("ERR_INVALID_OPTION", "numbers, handles and slots need host");
  }
  if (host !== undefined && dumps > 1) {
    throw new QuestionError("ERR_INVALID_OPTION", "host goes with one dump");
  }
  const values = globals.map(({ name, values }) => [name, values[nth] as number]);
  const named = hostRoots.map(({ name, address }) => [name ?? givenAddress(address), address]);
  const container = {
    ...(raw ? { globals: Object.fromEntries(values) as Record<string, number> } : {}),
    ...(coredumpInstance === undefined ? {} : { coredumpInstance }),
    ...(host === undefined
      ? {}
      : {
          host: {
            snapshot: host,
            slots,
            ...(numbers === undefined ? {} : { numbers }),
            ...(handles === undefined ? {} : { handles }),
          },
        }),
    ...(named.length === 0 ? {} : { hostRoots: Object.fromEntries(named) }),
  };
  return Object.keys(container).length === 0 ? undefined : container;
}

type Absent = "categories" | "joined" | "trap";
type Details = Omit<s.TypeOf<typeof details>, Absent> & Pick<SummaryAnswer, Absent>;
type ShortAndFullSummary = [s.TypeOf<typeof opened>, Details];

/** A heap in short and in full. */
function summaryOf(
  { heap }: OpenHeap,
  handle: string,
  { dump, wasm }: HeapFiles,
): ShortAndFullSummary {
  const {
    totalHeapSize,
    totalLiveSize,
    accounting,
    objects,
    classes,
    roots,
    categories,
    joined,
    trap,
  } = heap.summary();
  const liveObjects = objects.live;
  return [
    {
      heap: handle,
      dump: dump.shown,
      ...(totalHeapSize === undefined ? {} : { totalHeapSize }),
      totalLiveSize,
      ...(joined === undefined ? {} : { totalLiveParts: livePartsOf(joined) }),
      liveObjects,
    },
    {
      dump: dump.shown,
      wasm: wasm?.shown ?? null,
      objects,
      classes,
      roots,
      ...(categories === undefined ? {} : { categories }),
      bytes: accounting === undefined ? null : bytesOf(accounting),
      collector: accounting?.collector ?? null,
      ...(joined === undefined ? {} : { joined }),
      ...(trap === undefined ? {} : { trap }),
    },
  ];
}

function livePartsOf({ javascript, wasm }: JoinedSums) {
  return { javascript: javascript.liveSize, wasm: wasm.liveSize };
}

function bytesOf({ live, garbage, raw, free, overhead, gaps, unread }: Accounting) {
  return { live, garbage, raw, free: free.bytes, other: overhead + gaps + unread };
}

/** The module that was named, or that of the server, or the only one beside the dump or in `build` there. */
async function moduleOf(
  dump: RootFile,
  named: string | undefined,
  { roots, wasm }: QuestionContext,
): Promise<RootFile> {
  const path = named ?? wasm;
  if (path !== undefined) return await roots.file("module", path);
  const beside = await roots.modulesBeside(dump);
  if (beside.length === 1) return await roots.file("module", beside[0] as string);
  const names = beside.slice(0, 10).map(shortened).join(", ");
  const found =
    beside.length === 0
      ? `no .wasm file lies beside ${dump.shown}, nor in build there`
      : `${beside.length} .wasm files lie beside ${dump.shown} (${names})`;
  throw new QuestionError("ERR_NO_MODULE", `${found}: name the module with wasm`);
}
