/**
 * Judges what the analyzer says of one dump of the random native program. Blocks, sizes and sums must be exactly those of
 * the log. What is unreferenced must be exactly what the words of the memory do not lead to; where that is not what the
 * program can still find, a word or a pointer that is in no word explains it, in the directions of docs/native.md.
 */
import type { Answers } from "./answers.ts";
import { type How, hex, type Log } from "./log.ts";
import {
  bySource,
  describeWord,
  type FalseWord,
  falselyKept,
  findWords,
  keptElsewhere,
  type Memory,
  reached,
  rootBlocks,
  type Word,
  withoutSlack,
} from "./memory_graph.ts";

/** The analyzer says something that is not so. */
export class Disagreement extends Error {}

/** Bytes of a block that are the allocator's. */
export interface Allocator {
  name: string;
  /** The bytes of its headers, which count as the block's. */
  overhead: number;
  /** The most bytes that rounding adds to what was asked for. */
  mostRounding: number;
}

export interface Judged {
  blocks: number;
  unreferenced: number;
  /** Blocks that the program has lost, and that a word keeps nevertheless. */
  hidden: Map<FalseWord, number>;
  /** Unreferenced blocks that the program can still find. */
  elsewhere: Map<How, number>;
  retained: number;
  /** Whether retained sizes are those without the words behind objects. */
  isWithoutSlack: boolean;
  /** Whether there is a word behind an object that refers to a block, and a field at the same offset of a larger one. */
  slack: number;
  fields: number;
  /** What explains each of these blocks. */
  explanations: string[];
}

/** How many retained sizes are computed by the definition, for each dump. */
const RETAINED_SIZES = 3;

/**
 * @throws {Disagreement} the first difference.
 */
export function judgeDump(
  log: Log,
  answers: Answers,
  memory: Memory,
  allocator: Allocator,
): Judged {
  checkBlocks(log, answers, allocator);
  const usable = new Map(
    [...answers.blocks].map(([address, { size }]) => [address, size - allocator.overhead]),
  );
  const words = findWords(log, usable, memory);
  const all = bySource(words);
  const own = bySource(words.filter(({ isFalse }) => isFalse === undefined));
  const found = reached(all, rootBlocks(all));
  const truly = reached(own, rootBlocks(own));
  checkUnreferenced(answers, found);
  const objects = objectsOf(log, memory);
  const isOld = ({ at, from }: Word) => objects.small.has(from ?? -1) && at - (from ?? 0) >= SMALL;
  const checked = checkGraph(answers, { words, found, objects });
  const judged: Judged = {
    blocks: usable.size,
    unreferenced: usable.size - found.size,
    hidden: new Map(),
    elsewhere: new Map(),
    ...checked,
    slack: words.filter(isOld).length,
    fields: words.filter(
      ({ at, from }) => objects.large.has(from ?? -1) && at - (from ?? 0) === SMALL,
    ).length,
    explanations: [],
  };
  explain(judged, log, { words, truly, found });
  return judged;
}

/** The size of objects of the small class; those of the large one have a union there. */
const SMALL = 12;

/** The blocks of objects of the program's classes, by what they begin with. */
function objectsOf(log: Log, { bytes, classes }: Memory): Record<"small" | "large", Set<number>> {
  const words = new DataView(bytes);
  const blocks = [...log.blocks.values()].filter(({ size }) => size >= SMALL);
  const of = (address: number) =>
    new Set(
      blocks.map(({ address }) => address).filter((at) => words.getUint32(at, true) === address),
    );
  return { small: of(classes.small), large: of(classes.large) };
}

/**
 * Entries and retained sizes are those of all words, or, if words are behind objects, without these from some offset on.
 * Fields of other objects are never left out.
 */
function checkGraph(
  answers: Answers,
  {
    words,
    found,
    objects,
  }: { words: Word[]; found: Set<number>; objects: Record<"small" | "large", Set<number>> },
): Pick<Judged, "retained" | "isWithoutSlack"> {
  const check = (words: Word[]) => {
    const all = bySource(words);
    const entries = checkEntries(answers, found, all);
    return checkRetained(answers, [...rootBlocks(all), ...entries], { words: all, objects });
  };
  try {
    return { retained: check(words), isWithoutSlack: false };
  } catch (first) {
    for (const end of [SMALL, SMALL + 4]) {
      const fewer = withoutSlack(words, (block) => objects.small.has(block), end);
      if (fewer.length === words.length) continue;
      try {
        return { retained: check(fewer), isWithoutSlack: true };
      } catch (error) {
        if (!(error instanceof Disagreement)) throw error;
      }
    }
    throw first;
  }
}

function checkBlocks(log: Log, { blocks, live, heapSize }: Answers, allocator: Allocator): void {
  for (const { address, size } of log.blocks.values()) {
    const block = blocks.get(address);
    if (block === undefined) throw new Disagreement(`the block at ${hex(address)} is not found`);
    const rounding = block.size - allocator.overhead - size;
    if (rounding < 0 || rounding > allocator.mostRounding)
      throw new Disagreement(`the block of ${size} bytes at ${hex(address)} has ${block.size}`);
  }
  for (const address of blocks.keys()) {
    if (!log.blocks.has(address)) throw new Disagreement(`there is no block at ${hex(address)}`);
  }
  const sizes = [...blocks.values()].reduce((sum, { size }) => sum + size, 0);
  if (live.count !== blocks.size || live.bytes !== sizes)
    throw new Disagreement(`${live.count} live blocks of ${live.bytes} bytes, not of ${sizes}`);
  if (heapSize < sizes) throw new Disagreement(`the heap of ${heapSize} bytes holds ${sizes}`);
}

/** The paths to what the roots reach begin at a root of the memory, all others at what is unreferenced. */
function checkUnreferenced({ blocks }: Answers, found: Set<number>): void {
  for (const [address, { pathFrom }] of blocks) {
    const isFound = pathFrom !== undefined && pathFrom !== "unreferenced";
    if (found.has(address) !== isFound) {
      const truth = found.has(address) ? "the memory refers to it" : "nothing refers to it";
      throw new Disagreement(`the path to ${hex(address)} begins at ${pathFrom}, but ${truth}`);
    }
  }
}

/** The entries reach all that is unreferenced, and no entry reaches another. */
function checkEntries(
  { blocks }: Answers,
  found: Set<number>,
  words: ReturnType<typeof bySource>,
): number[] {
  const isEntry = ({ rootKinds }: { rootKinds: string[] }) => rootKinds.includes("unreferenced");
  const entries = [...blocks].filter(([, block]) => isEntry(block)).map(([address]) => address);
  const fromEntries = reached(words, entries);
  for (const address of blocks.keys()) {
    if (!found.has(address) && !fromEntries.has(address))
      throw new Disagreement(`no entry reaches the unreferenced block at ${hex(address)}`);
  }
  for (const entry of entries) {
    if (found.has(entry)) throw new Disagreement(`the entry ${hex(entry)} is referred to`);
    const behind = reached(words, [entry]);
    const other = entries.find((one) => one !== entry && behind.has(one));
    if (other !== undefined)
      throw new Disagreement(`the entry ${hex(entry)} reaches the entry ${hex(other)}`);
  }
  return entries;
}

/** What would not be reached without a block is what it retains. */
function checkRetained(
  { blocks }: Answers,
  roots: number[],
  {
    words,
    objects,
  }: {
    words: ReturnType<typeof bySource>;
    objects: Record<"small" | "large", Set<number>>;
  },
): number {
  // Those with the most to say.
  const sorted = [...blocks].sort(([, left], [, right]) => right.retainedSize - left.retainedSize);
  const first = (of: (address: number) => boolean) =>
    sorted.filter(([address]) => of(address)).slice(0, RETAINED_SIZES);
  const chosen = [
    ...first(() => true),
    ...first((address) => objects.small.has(address)),
    ...first((address) => objects.large.has(address)),
  ];
  for (const [address, { retainedSize }] of chosen) {
    const kept = reached(words, roots, address);
    let freed = 0;
    for (const [other, { size }] of blocks) if (!kept.has(other)) freed += size;
    if (freed !== retainedSize)
      throw new Disagreement(`${hex(address)} retains ${freed} bytes, not ${retainedSize}`);
  }
  return chosen.length;
}

function explain(
  judged: Judged,
  log: Log,
  {
    words,
    truly,
    found,
  }: { words: ReturnType<typeof findWords>; truly: Set<number>; found: Set<number> },
): void {
  const falsely = falselyKept(words, truly);
  const elsewhere = keptElsewhere(log, words, truly);
  for (const { address } of log.blocks.values()) {
    if (truly.has(address)) {
      if (!found.has(address)) throw new Disagreement(`${hex(address)} is lost`);
      continue;
    }
    const how = elsewhere.get(address);
    if (found.has(address) && how === undefined) {
      const word = falsely.get(address);
      if (word?.isFalse === undefined)
        throw new Disagreement(`no word explains why ${hex(address)} is referred to`);
      judged.hidden.set(word.isFalse, 1 + (judged.hidden.get(word.isFalse) ?? 0));
      judged.explanations.push(`${hex(address)} is lost, but kept by ${describeWord(word)}`);
    } else if (!found.has(address) && how !== undefined) {
      judged.elsewhere.set(how, 1 + (judged.elsewhere.get(how) ?? 0));
      judged.explanations.push(`${hex(address)} is unreferenced, but not lost (${how})`);
    }
  }
}
