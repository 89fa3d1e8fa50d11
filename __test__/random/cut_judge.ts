/**
 * Asks a heap why objects are alive, and holds the answers against memory and against the collector:
 * performs the cuts that an answer proposes, collects, counts the bytes that are gone, and puts
 * everything back.
 */

import { type Heap, openHeap } from "@warpo/heap-analyzer";

import type { Edge, PathAnswer, Root } from "../../answers.js";
import type { HeapTruth } from "../support/truth.ts";
import type { RandomBuild } from "./builds.ts";
import { Disagreement } from "./disagreement.ts";
import { InstanceState } from "./instance_state.ts";
import { NaiveGraph, type RootSlot } from "./naive_graph.ts";
import type { Slot } from "./reference_slots.ts";
import type { MemoryParts } from "./referrers.ts";
import type { Random } from "./stream.ts";

export interface CutTotals {
  /** Cuts that were performed. */
  cuts: number;
  /** Impossible cuts: of constants in the code, and of a container's own storage. */
  impossible: number;
  /** Cuts in builds in which an optimiser copied the collector into its callers, so that nothing can be called to collect. */
  uncollectable: number;
  /** Steps of paths that were found in memory. */
  steps: number;
  /** Answers that were compared with those of a build with more or less evidence. */
  compared: number;
}

export function noCuts(): CutTotals {
  return { cuts: 0, impossible: 0, uncollectable: 0, steps: 0, compared: 0 };
}

/** The parts of a running program that the judge needs. */
export interface Subject {
  build: RandomBuild;
  exports: WebAssembly.Exports;
  dump: Uint8Array;
  truth: HeapTruth;
  parts: MemoryParts;
  random: Random;
}

/** Objects that are asked about at one moment. */
const OBJECTS = 3;
/** More references than an object of the random program has. */
const ALL = 1_000_000;

export function judgeAnswers(subject: Subject): CutTotals {
  const heap = openHeap(subject.dump, subject.build.wasm);
  const state = new InstanceState(subject.exports);
  try {
    return new CutJudge(subject, heap, state).judge();
  } finally {
    heap.close();
    state.restore();
  }
}

/** A change of memory, as it is performed on an instance. */
type Change = () => void;

class CutJudge {
  readonly #totals = noCuts();
  readonly #subject: Subject;
  readonly #heap: Heap;
  readonly #state: InstanceState;
  readonly #graph: NaiveGraph;
  /** Runs the collector; undefined if the build has no such function. */
  readonly #collect: (() => void) | undefined;
  /** Bytes that the collector keeps if nothing is cut; 0 without a collector. */
  readonly #live: number;

  constructor(subject: Subject, heap: Heap, state: InstanceState) {
    this.#subject = subject;
    this.#heap = heap;
    this.#state = state;
    this.#graph = new NaiveGraph(subject.parts, subject.truth, subject.build.description);
    this.#collect = subject.exports.__collect as (() => void) | undefined;
    this.#live = this.#collect ? this.#liveAfter(this.#collect, () => {}) : 0;
  }

  judge(): CutTotals {
    const { random } = this.#subject;
    const rows = this.#heap.constructors().constructors;
    const addresses = rows.flatMap(({ instances }) => instances.map(({ address }) => address));
    if (addresses.length === 0) return this.#totals;
    const answers: PathAnswer[] = [];
    for (let left = OBJECTS; left > 0; left--) {
      const address = addresses[random(addresses.length)] as number;
      const answer = this.#heap.paths(address, { limit: ALL });
      this.#checkPath(answer);
      this.#checkReferrers(answer);
      this.#checkIndependentReferrers(answer);
      this.#checkCut(answer);
      this.#checkAfterReturn(answer);
      answers.push(answer);
    }
    this.#compareBuilds(answers);
    const row = rows[random(rows.length)];
    if (row) this.#checkClass(row.className, new Set(row.instances.map(({ address }) => address)));
    return this.#totals;
  }

  /** The bytes that the collector keeps after a change; the next change begins from the old state. */
  #liveAfter(collect: () => void, change: Change): number {
    this.#state.restore();
    change();
    collect();
    const total = this.#subject.build.globals.get("~lib/rt/itcms/total") ?? "";
    const bytes = Number((this.#subject.exports[total] as WebAssembly.Global).value) >>> 0;
    this.#state.restore();
    return bytes;
  }

  #expectFreed(what: string, changes: (Change | undefined)[], freed: number): void {
    if (changes.includes(undefined)) {
      this.#totals.impossible++;
      return;
    }
    const collect = this.#collect;
    if (!collect) {
      this.#totals.uncollectable++;
      return;
    }
    const left = this.#liveAfter(collect, () => {
      for (const change of changes) change?.();
    });
    this.#totals.cuts++;
    if (this.#live - left !== freed)
      throw this.#disagreement(`${what} frees ${this.#live - left} bytes, not ${freed}`);
  }

  #disagreement(what: string): Disagreement {
    return new Disagreement(`${this.#subject.build.name}: ${what}`);
  }

  #expect(what: string, found: unknown, expected: unknown): void {
    const [said, is] = [JSON.stringify(found), JSON.stringify(expected)];
    if (said !== is) throw this.#disagreement(`${what}: ${said}, not ${is}`);
  }

  #checkPath({ address, path }: PathAnswer): void {
    const nearest = this.#graph.distances.get(address);
    const [first, ...others] = path?.steps ?? [];
    if (!path || !first || !nearest) throw this.#disagreement(`${address} has no path`);
    this.#expect(`the kind of root of ${address}`, path.root.kind, nearest.kind);
    const references = others.reduce((sum, { repeat }) => sum + repeat, 0);
    this.#expect(`the length of the path of ${address}`, references, nearest.distance);
    this.#expect(`the last step of the path`, path.steps.at(-1)?.address, address);
    if (!this.#rootSlot(path.root, first.address))
      throw this.#disagreement(`no ${describeRoot(path.root)} holds ${first.address}`);
    let from = first.address;
    for (const step of others) {
      if (!this.#graph.isReachedBy(from, step.address, step.repeat))
        throw this.#disagreement(
          `${from} has no ${step.repeat} references ${step.label} to ${step.address} on the path of ${address}`,
        );
      if (step.repeat === 1 && !this.#slot(from, step.label, step.address))
        throw this.#disagreement(`${from} does not hold ${step.address} at ${step.label}`);
      from = step.address;
      this.#totals.steps += step.repeat;
    }
  }

  #checkReferrers({ address }: PathAnswer): void {
    const { referrers, total } = this.#heap.referrers(address, { limit: ALL });
    this.#expect(`the number of references to ${address}`, referrers.length, total);
    const reached = this.#graph.reachedWithout(address);
    const expected = [
      ...this.#graph.slotsTo(address).map(({ holder }) => `${holder} ${reached.has(holder)}`),
      ...this.#graph.rootsOf(address).map(({ kind }) => `${kind} true`),
    ];
    const found = referrers.map((edge) => `${edge.address ?? edge.root?.kind} ${edge.independent}`);
    this.#expect(`the references to ${address}`, found.sort(), expected.sort());
  }

  #checkIndependentReferrers(answer: PathAnswer): void {
    const { address, retainedSize, independentReferrers, freedByCutting } = answer;
    const { edges, total } = independentReferrers;
    this.#expect(`the number of independent references to ${address}`, edges.length, total);
    const { random } = this.#subject;
    const one = edges[random(edges.length)];
    if (!one) throw this.#disagreement(`nothing holds ${address}`);
    this.#expect(
      `what cutting one reference frees of ${address}`,
      freedByCutting,
      total === 1 ? retainedSize : null,
    );
    this.#expect(`what cutting all frees of ${address}`, answer.freedByCuttingAll, retainedSize);
    this.#expectFreed(
      `cutting ${describeEdge(one)} of ${total} independent references to ${address}`,
      this.#cuts([one], address),
      total === 1 ? retainedSize : 0,
    );
    if (total > 1)
      this.#expectFreed(
        `cutting all ${total} independent references to ${address}`,
        this.#cuts(edges, address),
        retainedSize,
      );
    const { referrers } = this.#heap.referrers(address, { limit: ALL });
    const dependent = referrers.filter(({ independent }) => !independent);
    const other = dependent[random(dependent.length || 1)];
    if (other)
      this.#expectFreed(
        `cutting the dependent ${describeEdge(other)} to ${address}`,
        this.#cuts([other], address),
        0,
      );
  }

  /** The nearest dominator with one independent reference, the object itself included. */
  #nearestCut(answer: PathAnswer): { edge: Edge; target: PathAnswer } | undefined {
    let target: PathAnswer | undefined = answer;
    while (target) {
      const { edges, total } = target.independentReferrers;
      if (total === 1 && edges[0]) return { edge: edges[0], target };
      target = target.dominator
        ? this.#heap.paths(target.dominator.address, { limit: ALL })
        : undefined;
    }
    return undefined;
  }

  #checkCut(answer: PathAnswer): void {
    const { address, cut } = answer;
    const nearest = this.#nearestCut(answer);
    const { edge, target } = nearest ?? {};
    this.#expect(
      `the cut of ${address}`,
      cut,
      edge && target
        ? {
            className: edge.className,
            label: edge.label,
            labelText: edge.labelText,
            root: edge.root,
            freed: target.retainedSize,
          }
        : null,
    );
    if (!cut || !edge || !target) return;
    this.#expectFreed(
      `cutting ${describeEdge(edge)} to ${target.address}, a dominator of ${address},`,
      this.#cuts([edge], target.address),
      cut.freed,
    );
  }

  /** The bytes that a cut frees without the stack. */
  #checkAfterReturn(answer: PathAnswer): void {
    const { address, freedAfterReturn } = answer;
    const nearest = this.#nearestCut(answer);
    if (freedAfterReturn === null || !nearest) return;
    const { edge, target } = nearest;
    const cuts = this.#cuts([edge], target.address);
    if (cuts.includes(undefined)) {
      this.#totals.impossible++;
      return;
    }
    const collect = this.#collect;
    if (!collect) {
      this.#totals.uncollectable++;
      return;
    }
    const clearStack = () => {
      const { memory, stackPointer, heapBase } = this.#subject.parts;
      new Uint32Array(memory).fill(0, stackPointer >>> 2, heapBase >>> 2);
    };
    const left = this.#liveAfter(collect, clearStack);
    const leftWithoutIt = this.#liveAfter(collect, () => {
      for (const cut of cuts) cut?.();
      clearStack();
    });
    this.#totals.cuts++;
    this.#expect(
      `what cutting ${describeEdge(edge)} frees for ${address} after return`,
      freedAfterReturn,
      left - leftWithoutIt,
    );
  }

  /** Removing all objects of a class. */
  #checkClass(className: string, instances: Set<number>): void {
    const answer = this.#heap.paths({ class: className }, { limit: ALL });
    const { count, shallowSize, retainedSetSize, freedByRemovingAll, heldBy } = answer;
    this.#expect(`the number of objects of ${className}`, count, instances.size);
    this.#expect(
      `what holds ${className}`,
      heldBy.global + heldBy.stack + heldBy.pinned,
      shallowSize,
    );
    const branches = answer.tree.reduce((sum, branch) => sum + branch.count, 0);
    this.#expect(`the paths of ${className}`, branches + (answer.more?.count ?? 0), count);
    if (retainedSetSize > freedByRemovingAll)
      throw this.#disagreement(
        `${className} retains ${retainedSetSize}, more than ${freedByRemovingAll}`,
      );
    const slots = [...this.#graph.distances.keys()].flatMap((address) =>
      this.#graph.slotsOf(address).filter(({ target }) => instances.has(target)),
    );
    const roots = this.#graph.roots.filter(({ target }) => instances.has(target));
    this.#expectFreed(
      `removing all ${count} objects of ${className}`,
      [...slots.map((slot) => this.#cutSlot(slot)), ...roots.map((root) => this.#cutRoot(root))],
      freedByRemovingAll,
    );
  }

  /** Builds that differ in names and debug information only give the same answers but for texts. */
  #compareBuilds(answers: PathAnswer[]): void {
    const { dump, build } = this.#subject;
    for (const [evidence, wasm] of build.sameCode) {
      const heap = openHeap(dump, wasm);
      try {
        for (const answer of answers) {
          this.#expect(
            `the answer about ${answer.address} with ${evidence}`,
            withoutTexts(heap.paths(answer.address, { limit: ALL })),
            withoutTexts(answer),
          );
          this.#totals.compared++;
        }
      } finally {
        heap.close();
      }
    }
  }

  /** Changes that cut references to one object; undefined for a reference that cannot be cut. */
  #cuts(edges: Edge[], target: number): (Change | undefined)[] {
    const used = new Set<Slot>();
    return edges.map((edge) => {
      if (edge.root) {
        const slot = this.#rootSlot(edge.root, target);
        if (!slot) throw this.#disagreement(`no ${describeRoot(edge.root)} holds ${target}`);
        return this.#cutRoot(slot);
      }
      const slot = this.#slot(edge.address ?? 0, edge.label, target, used);
      if (!slot) throw this.#disagreement(`no ${describeEdge(edge)} holds ${target}`);
      used.add(slot);
      return this.#cutSlot(slot);
    });
  }

  /** The word that an answer means. */
  #slot(
    holder: number,
    label: string | null,
    target: number,
    used: Set<Slot> = new Set(),
  ): Slot | undefined {
    const slots = this.#graph
      .slotsOf(holder)
      .filter((slot) => slot.target === target && !used.has(slot));
    const element = /^\[(\d+)\]$/.exec(label ?? "")?.[1];
    const isElement = slots.some((slot) => slot.element !== undefined);
    return element !== undefined && isElement
      ? slots.find((slot) => slot.element === Number(element))
      : slots[0];
  }

  #rootSlot({ kind, name }: Root, target: number): RootSlot | undefined {
    const roots = this.#graph.rootsOf(target).filter((root) => root.kind === kind);
    if (kind === "pinned") return roots[0];
    if (kind === "stack") {
      const { stackPointer } = this.#subject.parts;
      return roots.find(({ place }) => `+${(place as number) - stackPointer}` === name);
    }
    const { globals } = this.#subject.build;
    const index = /^#(\d+)$/.exec(name ?? "")?.[1];
    const isConstant = index !== undefined && ![...globals.values()].includes(`judge:${index}`);
    // Neither a constant in the code nor a global that never changes has a name that is known here.
    if (isConstant || name?.startsWith("(constant ")) return roots[0];
    return roots.find(({ place }) =>
      index === undefined ? place === name : globals.get(place as string) === `judge:${index}`,
    );
  }

  #cutSlot({ address, isTakenForGranted }: Slot): Change | undefined {
    if (isTakenForGranted) return undefined;
    return () => new DataView(this.#subject.parts.memory).setUint32(address, 0, true);
  }

  #cutRoot({ kind, place, target }: RootSlot): Change | undefined {
    const { exports, build, parts } = this.#subject;
    if (kind === "pinned") {
      // An optimiser may have inlined it into the program.
      const unpin = exports.__unpin as ((address: number) => void) | undefined;
      return unpin && (() => unpin(target));
    }
    if (kind === "stack")
      return () => new DataView(parts.memory).setUint32(place as number, 0, true);
    const global = exports[build.globals.get(place as string) ?? ""];
    if (!global) return undefined;
    return () => {
      (global as WebAssembly.Global).value = 0;
    };
  }
}

function describeRoot({ kind, name }: Root): string {
  return name === null ? kind : `${kind} ${name}`;
}

function describeEdge({ address, label, root }: Edge): string {
  return root ? describeRoot(root) : `${address}${label?.startsWith("[") ? "" : "."}${label}`;
}

/** The parts of an answer that do not depend on names: for a path, the kind of its root and its length. */
function withoutTexts(answer: PathAnswer): unknown {
  const {
    path,
    cut,
    dominator,
    independentReferrers,
    className: _,
    warnings: __,
    ...rest
  } = answer;
  const edges = independentReferrers.edges.map(
    ({ address, root, independent }) => `${address ?? root?.kind} ${independent}`,
  );
  return {
    ...rest,
    path: path && {
      kind: path.root.kind,
      references: path.steps.slice(1).reduce((sum, { repeat }) => sum + repeat, 0),
    },
    freed: cut?.freed,
    dominator: dominator?.address,
    edges: edges.sort(),
  };
}
