/** Answers from the data inside a report file: as much as is there. */
import type { SizeParts } from "../../answers.js";
import type { DominatedRow, Method, Methods } from "../explorer/methods.js";
import { listed } from "../served/questions/found.ts";
import type { CellColumns, Detail, Report } from "./data.ts";
import * as format from "./format.ts";
import { NotHere, type Questions } from "./questions.ts";

type FileAnswers = { [M in Method]?: (request: Methods[M]["request"]) => Methods[M]["answer"] };

/** The handle of the only heap. */
const HEAP = "1";

export class FileQuestions implements Questions {
  readonly isComplete = false;
  readonly editor = null;
  readonly #report: Report;
  readonly #cells: Map<string, number>;
  readonly #nodes: Map<string, number>;
  readonly #details: Map<number, Detail>;

  constructor(report: Report) {
    this.#report = report;
    const { cells, unreachable, details } = report;
    this.#cells = cellsByAddress(cells);
    this.#nodes = new Map();
    for (const [nth, { address, addressText }] of (unreachable?.nodes ?? []).entries()) {
      this.#nodes.set(addressText, nth).set(String(address), nth);
    }
    this.#details = new Map(details.map((detail) => [detail.cell, detail]));
  }

  async ask<M extends Method>(
    method: M,
    request: Methods[M]["request"],
  ): Promise<Methods[M]["answer"]> {
    const answers: FileAnswers = {
      status: () => this.#status(),
      classes: (request) => this.#classes(request),
      object: (request) => this.#object(request),
      paths: (request) => this.#paths(request),
      dominators: (request) => this.#dominators(request),
    };
    const answer = answers[method] as
      | ((request: Methods[M]["request"]) => Methods[M]["answer"])
      | undefined;
    if (answer === undefined) throw this.#notHere("This report has no list of these objects.");
    return answer(request);
  }

  async report(): Promise<Report> {
    return this.#report;
  }

  #status(): Methods["status"]["answer"] {
    const { dump, summary, comparison } = this.#report;
    const { totalLiveSize } = summary;
    return {
      dumps: [{ heap: HEAP, name: dump, totalLiveSize }],
      heap: HEAP,
      before: comparison === null ? null : "0",
      reading: null,
      profiled: null,
      canTake: false,
      failures: [],
    };
  }

  #classes({
    contains = "",
    limit = 50,
    offset = 0,
  }: Methods["classes"]["request"]): Methods["classes"]["answer"] {
    const part = contains.toLowerCase();
    const all = this.#report.classes.rows.filter(({ className }) =>
      className.toLowerCase().includes(part),
    );
    const rows = all.slice(offset, offset + limit).map((row) => ({
      ...row,
      retainedSize: row.retainedSetSize,
    }));
    const { totalLiveSize } = this.#report.summary;
    return { totalLiveSize, rows, page: listed(all.length, offset, rows.length) };
  }

  #object({ address }: Methods["object"]["request"]): Methods["object"]["answer"] {
    const wanted = String(address).toLowerCase();
    const node = this.#nodes.get(wanted);
    if (node !== undefined) return this.#nodeAt(node);
    const cell = this.#cells.get(wanted);
    const { cells } = this.#report;
    const className = cell === undefined ? undefined : cells.className[cell];
    if (cell === undefined || className === undefined || className === null) {
      throw this.#notHere(`This report has no data about ${wanted}: it has the largest objects.`);
    }
    const detail = this.#details.get(cell);
    const { referrers = [], referrerCount = 0, preview = null } = detail ?? {};
    const isOne = cells.kind[cell] === "object";
    const retainedSize = cells.retainedSize[cell] as number;
    return {
      address: cells.address[cell] as number,
      addressText: cells.addressText[cell] ?? wanted,
      className,
      state: "live",
      shallowSize: isOne ? (cells.shallowSize[cell] as number) : 0,
      retainedSize,
      ...partsOf(retainedSize, cells.wasmSize?.[cell]),
      dominator: null,
      roots: [],
      preview,
      fields: [],
      entries: null,
      referrers,
      page: listed(referrerCount, 0, referrers.length),
    };
  }

  /** An object that no root reaches. */
  #nodeAt(nth: number): Methods["object"]["answer"] {
    const { unreachable } = this.#report;
    const node = unreachable?.nodes[nth];
    if (node === undefined) throw this.#notHere("This report has no data about this object.");
    const { address, addressText, className, state, shallowSize } = node;
    const fields = unreachable?.fields[nth]?.fields ?? [];
    return {
      address,
      addressText,
      className,
      state,
      shallowSize,
      retainedSize: 0,
      dominator: null,
      roots: [],
      preview: null,
      fields,
      entries: null,
      referrers: [],
      page: listed(0, 0, 0),
    };
  }

  #paths({ address }: Methods["paths"]["request"]): Methods["paths"]["answer"] {
    const cell = this.#cells.get(address.toLowerCase());
    const detail = cell === undefined ? undefined : this.#details.get(cell);
    if (detail === undefined || detail.path === null) {
      throw this.#notHere("This report has the paths of the largest objects only.");
    }
    const { path, cut } = detail;
    return {
      object: {
        path: { ...path, text: "" },
        independentReferrers: { total: 0, edges: [] },
        freedByCuttingAll: 0,
        cut,
      },
    };
  }

  #dominators({
    address,
    by,
    limit = 50,
    offset = 0,
  }: Methods["dominators"]["request"]): Methods["dominators"]["answer"] {
    const cell = address === undefined ? 0 : this.#cells.get(address.toLowerCase());
    const { cells } = this.#report;
    const parts = [...cells.parent.keys()].filter((nth) => nth > 0 && cells.parent[nth] === cell);
    if (cell === undefined || parts.length === 0) {
      throw this.#notHere("This report does not divide this object any further.");
    }
    const rows = parts.map((part): DominatedRow => {
      const isOne = cells.kind[part] === "object";
      return {
        address: isOne ? (cells.address[part] ?? null) : null,
        addressText: isOne ? (cells.addressText[part] ?? null) : null,
        className: cells.className[part] ?? "other objects",
        count: cells.count[part] as number,
        shallowSize: cells.shallowSize[part] as number,
        retainedSize: cells.retainedSize[part] as number,
        ...partsOf(cells.retainedSize[part] as number, cells.wasmSize?.[part]),
      };
    });
    const all = by === "class" ? grouped(rows) : rows;
    all.sort((one, other) => other.retainedSize - one.retainedSize);
    const children = all.slice(offset, offset + limit);
    return { children, page: listed(all.length, offset, children.length) };
  }

  #notHere(message: string): NotHere {
    return new NotHere(message, openCommand(this.#report));
  }
}

/** The command that shows everything. The report does not say where the files are. */
export function openCommand({ dump, before, summary }: Report): string {
  const files = [before, dump].filter((name) => name !== null).map(quoted);
  // Nor does it say what the file of the host is called.
  const host = summary.joined === undefined ? "" : " --host <file>.heapsnapshot";
  return `warpo-heap-analyzer open ${files.join(" ")}${host}`;
}

/** A retained size by heap, of heaps that were joined. */
function partsOf(size: number, wasm: number | undefined): { retainedParts?: SizeParts } {
  return wasm === undefined ? {} : { retainedParts: { javascript: size - wasm, wasm } };
}

function quoted(name: string): string {
  const shown = format.printable(name);
  return /^[\w./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

function grouped(rows: DominatedRow[]): DominatedRow[] {
  const groups = new Map<string, DominatedRow>();
  for (const row of rows) {
    const known = groups.get(row.className);
    if (known === undefined) {
      groups.set(row.className, { ...row, address: null, addressText: null });
    } else {
      known.count += row.count;
      known.shallowSize += row.shallowSize;
      known.retainedSize += row.retainedSize;
      if (known.retainedParts !== undefined && row.retainedParts !== undefined) {
        const { javascript, wasm } = known.retainedParts;
        known.retainedParts = {
          javascript: javascript + row.retainedParts.javascript,
          wasm: wasm + row.retainedParts.wasm,
        };
      }
    }
  }
  return [...groups.values()];
}

/** Objects and the beginnings of chains by their addresses. */
function cellsByAddress({ kind, address, addressText }: CellColumns): Map<string, number> {
  const found = new Map<string, number>();
  for (const [cell, text] of addressText.entries()) {
    if (text === null || (kind[cell] !== "object" && kind[cell] !== "chain")) continue;
    found.set(text, cell).set(String(address[cell]), cell);
  }
  return found;
}
