/** Programs of `__test__/programs/bridge`, whose hosts keep objects of a module by their addresses. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileProgram } from "./asc_program.ts";
import { type GraphNode, nodeAt, readGraph } from "./snapshot_graph.ts";

const RUN = join(import.meta.dirname, "../programs/bridge/run.mjs");

/** Holders of one kind, and the addresses in them. */
export interface TruthGroup {
  name: string;
  holder: { class?: string; at?: string; under?: string; slot: string };
  single?: boolean;
  unseen?: boolean;
  block?: boolean;
  addresses: number[];
}

export interface BridgeTruth {
  groups: TruthGroup[];
  lost: number[];
}

export interface NumbersFile {
  format: string;
  dumpSize: number;
  dumpSha256: string;
  lo: number;
  hi: number;
  read: Record<string, number>;
  objects: {
    id: number;
    kind: string;
    slots: [name: string | number, address: number, key?: string][];
    other: Record<string, number>;
    steps?: number[][];
    scope?: number;
  }[];
}

/** The module that all programs use, with its bindings, in a new folder. */
export async function bridgeFolder(...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "bridge-"));
  const options = ["--bindings", "raw", "--exportRuntime", ...flags];
  const { wasm, bindings } = await compileProgram("bridge/memory", ...options);
  const paths = { wasm: join(folder, "memory.wasm"), bindings: join(folder, "memory.mjs") };
  writeFileSync(paths.wasm, wasm);
  writeFileSync(paths.bindings, bindings as string);
  return { folder, ...paths };
}

type BridgeFolder = Awaited<ReturnType<typeof bridgeFolder>>;

/** The arguments of a run, without those of Node. */
export function runArguments(
  { folder, wasm, bindings }: BridgeFolder,
  program: string,
  mode: "capture" | "closures" | "twice" | "wait",
  seed = 1,
): { prefix: string; args: string[] } {
  const prefix = join(mkdtempSync(join(folder, `${program}-`)), "pair");
  return { prefix, args: [RUN, program, bindings, wasm, prefix, `${seed}`, mode] };
}

/** Runs a program, which captures a pair. */
export function captureProgram(
  folder: BridgeFolder,
  program: string,
  mode: "capture" | "closures" | "twice",
  { node = process.execPath, flags = [] as string[], env = {}, seed = 1 } = {},
) {
  const { prefix, args } = runArguments(folder, program, mode, seed);
  const output = execFileSync(node, [...flags, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { prefix, printed: JSON.parse(output.trim().split("\n").at(-1) as string) };
}

export function readBridgeTruth(prefix: string): BridgeTruth {
  return JSON.parse(readFileSync(`${prefix}.truth.json`, "utf8"));
}

export function readNumbersFile(prefix: string): NumbersFile {
  return JSON.parse(readFileSync(`${prefix}.numbers.json`, "utf8"));
}

/**
 * The groups of the truth of which the pair does not show every address at its holder: in the snapshot as a named
 * number, or in the numbers file.
 */
export function groupsNotSeen(prefix: string, truth = readBridgeTruth(prefix)): string[] {
  const graph = readGraph(`${prefix}.heapsnapshot`);
  const seen = new Seen(graph, readNumbersFile(prefix));
  return truth.groups
    .filter(({ holder, addresses }) => {
      const where = seen.at(holder, graph);
      return !addresses.every((address) => where.has(address));
    })
    .map(({ name }) => name);
}

/** All numbers that a pair shows, except those in what a program calls noise, some of which equal addresses by chance. */
export function shownNumbers(prefix: string): Set<number> {
  const graph = readGraph(`${prefix}.heapsnapshot`);
  const start = nodeAt(graph, "noise");
  const noise = start === undefined ? new Set<GraphNode>() : below(start, 8);
  return new Seen(graph, readNumbersFile(prefix)).outside(noise);
}

/** Which objects of JavaScript hold which addresses, as the program knows. */
export class TrueHolders {
  readonly #groups: { group: TruthGroup; ids: Set<number>; addresses: Set<number> }[];
  readonly #seen: Seen;
  /** The contexts of functions, whose variables are numbers of no object. */
  readonly #contexts: Set<number>;

  constructor(prefix: string, truth: BridgeTruth) {
    const graph = readGraph(`${prefix}.heapsnapshot`);
    this.#seen = new Seen(graph, readNumbersFile(prefix));
    const contexts = graph.filter(({ name }) => CONTEXT.test(name));
    this.#contexts = new Set(contexts.map(({ id }) => id));
    this.#groups = truth.groups.map((group) => ({
      group,
      ids: new Set([...holdersOf(group.holder, graph)].map(({ id }) => id)),
      addresses: new Set(group.addresses),
    }));
  }

  /** Whether an object holds an address in a slot, of which the analyzer says the label. */
  has(id: number, label: string, address: number): boolean {
    return this.#groups.some(({ group: { holder }, ids, addresses }) => {
      if (!ids.has(id) || !addresses.has(address)) return false;
      if (!this.#contexts.has(id) && !this.#seen.shows(id, address)) return false;
      return holder.class === undefined || !/^#?\w+$/.test(holder.slot) || label === holder.slot;
    });
  }
}

/** V8's names for the variables of a function that others use: `system / Context`, in newer versions by kind. */
const CONTEXT = /^system \/ \w*Context/;

/** The objects that a group of the truth names. */
function holdersOf(
  { class: className, at, under }: TruthGroup["holder"],
  graph: GraphNode[],
): Iterable<GraphNode> {
  if (className !== undefined) {
    return graph.filter(({ name, type }) => name === className && type === "object");
  }
  const start = nodeAt(graph, (at ?? under) as string);
  return start === undefined ? [] : below(start, 8);
}

class Seen {
  readonly #byId = new Map<number, Set<number>>();

  constructor(graph: GraphNode[], numbers: NumbersFile) {
    for (const { id, slots } of numbers.objects)
      for (const [, address] of slots) this.#add(id, address);
    for (const { id, edges } of graph) {
      for (const { to } of edges) if (to.number !== undefined) this.#add(id, to.number);
    }
  }

  #add(id: number, address: number): void {
    this.#byId.set(id, (this.#byId.get(id) ?? new Set()).add(address));
  }

  /** All numbers but those of some objects. */
  outside(left: Set<GraphNode>): Set<number> {
    const ids = new Set([...left].map(({ id }) => id));
    const found = new Set<number>();
    for (const [id, addresses] of this.#byId) {
      if (!ids.has(id)) for (const address of addresses) found.add(address);
    }
    return found;
  }

  shows(id: number, address: number): boolean {
    return this.#byId.get(id)?.has(address) === true;
  }

  /** The addresses at the holders of a group. */
  at(holder: TruthGroup["holder"], graph: GraphNode[]): Set<number> {
    const found = new Set<number>();
    for (const { id } of holdersOf(holder, graph)) {
      for (const address of this.#byId.get(id) ?? []) found.add(address);
    }
    return found;
  }
}

/** Names of references that lead from an object to what many objects share. */
const SHARED = /^(constructor|__proto__|map|shared|code|feedback_cell|dispatch_handle)$/;

/**
 * A node, and the nodes that at most `depth` edges lead to. Edges to what many objects share, and those of a context, are not
 * followed.
 */
function below(start: GraphNode, depth: number): Set<GraphNode> {
  const found = new Set([start]);
  let level = [start];
  for (let nth = 0; nth < depth && level.length > 0; nth++) {
    const next: GraphNode[] = [];
    for (const { name: owner, edges } of level) {
      if (CONTEXT.test(owner)) continue;
      for (const { type, name, to } of edges) {
        if (type === "weak" || type === "shortcut" || SHARED.test(name) || found.has(to)) continue;
        if (/^(global|Window)/.test(to.name)) continue;
        if (to.name.startsWith("system") && !CONTEXT.test(to.name)) continue;
        found.add(to);
        next.push(to);
      }
    }
    level = next;
  }
  return found;
}
