/**
 * What the memory of a native program says, by the definitions and nothing else: which words are addresses in blocks, and
 * which of these words are pointers of the program.
 */
import { How, hex, type Log } from "./log.ts";

/** Why a word that is no pointer of the program refers to a block. */
export type FalseWord =
  | "dangling pointer"
  | "number"
  | "old word"
  | "word of the stack"
  | "static number";

export interface Word {
  at: number;
  value: number;
  /** The block that has the word; undefined for a root. */
  from: number | undefined;
  /** The address of the block that it is in. */
  to: number;
  /** Undefined for a pointer of the program. */
  isFalse: FalseWord | undefined;
}

/** Parts of the memory. */
export interface Memory {
  bytes: ArrayBuffer;
  /** The part of the stack that is in use. */
  stack: { start: number; end: number };
  /** What objects of the program's two classes begin with. */
  classes: { small: number; large: number };
}

/** The bytes that the program may use of each block, by address. */
export type Blocks = Map<number, number>;

/** All words that are addresses in blocks: of the program's own memory, of the stack, and of blocks. */
export function findWords(log: Log, blocks: Blocks, { bytes, stack }: Memory): Word[] {
  const addresses = [...blocks.keys()].sort((left, right) => left - right);
  const around = (value: number) => {
    let [low, high] = [0, addresses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((addresses[middle] as number) <= value) low = middle + 1;
      else high = middle;
    }
    const address = addresses[low - 1];
    const isInside = address !== undefined && value < address + (blocks.get(address) as number);
    return isInside ? address : undefined;
  };
  const words = new Uint32Array(bytes);
  const found: Word[] = [];
  const scan = (start: number, end: number, from: number | undefined) => {
    for (let at = Math.ceil(start / 4) * 4; at + 4 <= end; at += 4) {
      const value = words[at / 4] as number;
      const to = around(value);
      if (to === undefined || to === from) continue;
      found.push({ at, value, from, to, isFalse: whyFalse(log, { at, from, to }, stack) });
    }
  };
  for (const { start, end } of log.owned.values()) {
    if (!isIn(start, stack)) scan(start, end, undefined);
  }
  scan(stack.start, stack.end, undefined);
  for (const [address, usable] of blocks) scan(address, address + usable, address);
  return found;
}

function whyFalse(
  log: Log,
  { at, from, to }: { at: number; from: number | undefined; to: number },
  stack: Memory["stack"],
): FalseWord | undefined {
  const pointer = log.plainPointer(at);
  if (pointer !== undefined) {
    return pointer.id === log.blocks.get(to)?.id ? undefined : "dangling pointer";
  }
  if (from === undefined) return isIn(at, stack) ? "word of the stack" : "static number";
  return log.isWritten(at) ? "number" : "old word";
}

function isIn(at: number, { start, end }: { start: number; end: number }): boolean {
  return at >= start && at < end;
}

/** What is reached from some blocks along words, without a block that is left out. */
export function reached(
  words: Map<number | undefined, Word[]>,
  roots: Iterable<number>,
  without?: number,
): Set<number> {
  const seen = new Set<number>();
  const open = [...roots];
  for (let block = open.pop(); block !== undefined; block = open.pop()) {
    if (block === without || seen.has(block)) continue;
    seen.add(block);
    for (const { to } of words.get(block) ?? []) open.push(to);
  }
  return seen;
}

/** The words by the block that has them; those of roots under undefined. */
export function bySource(words: Iterable<Word>): Map<number | undefined, Word[]> {
  const sorted = new Map<number | undefined, Word[]>();
  for (const word of words) {
    const of = sorted.get(word.from);
    if (of === undefined) sorted.set(word.from, [word]);
    else of.push(word);
  }
  return sorted;
}

/**
 * The words without those that are old for certain, because they are behind an object of the small class, and to whose
 * targets something else leads. What only such words lead to, they keep.
 *
 * @param end where the object ends.
 */
export function withoutSlack(
  words: Word[],
  isSmall: (block: number) => boolean,
  end: number,
): Word[] {
  const isSlack = ({ at, from }: Word) => from !== undefined && isSmall(from) && at - from >= end;
  const strong = words.filter((word) => !isSlack(word));
  const roots = rootBlocks(bySource(words));
  const isReached = reached(bySource(words), roots);
  const isHeld = reached(bySource(strong), roots);
  const isTarget = new Set(strong.map(({ to }) => to));
  return words.filter((word) => {
    if (!isSlack(word)) return true;
    if (isReached.has(word.to)) return isReached.has(word.from as number) && !isHeld.has(word.to);
    return !isTarget.has(word.to);
  });
}

/** The blocks to which the roots refer. */
export function rootBlocks(words: Map<number | undefined, Word[]>): number[] {
  return (words.get(undefined) ?? []).map(({ to }) => to);
}

/** Of each block that only false words keep, the first false word on a way to it. */
export function falselyKept(words: Word[], truly: Set<number>): Map<number, Word> {
  const sorted = bySource(words);
  const kept = new Map<number, Word>();
  const open: { block: number; word: Word }[] = [];
  const reach = (word: Word, first: Word) => {
    if (truly.has(word.to) || kept.has(word.to)) return;
    kept.set(word.to, first);
    open.push({ block: word.to, word: first });
  };
  for (const word of words) {
    if (word.isFalse !== undefined && (word.from === undefined || truly.has(word.from)))
      reach(word, word);
  }
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    for (const word of sorted.get(next.block) ?? []) reach(word, next.word);
  }
  return kept;
}

/** Blocks that the program can still find, but that no plain pointer leads to, with how it would find them. */
export function keptElsewhere(log: Log, words: Word[], truly: Set<number>): Map<number, How> {
  const address = new Map([...log.blocks.values()].map((block) => [block.id, block.address]));
  const pointers = [...log.pointers].filter(({ how }) => how !== How.Plain);
  const sorted = bySource(words.filter(({ isFalse }) => isFalse === undefined));
  const kept = new Map<number, How>();
  const isKnown = (at: number) => truly.has(at) || kept.has(at);
  // A hidden pointer in a block counts once the block is found, so this takes several rounds.
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const { how, at, id } of pointers) {
      const holder = how === How.Local || how === How.Host ? undefined : log.around(at)?.address;
      const target = address.get(id);
      if (target === undefined || isKnown(target)) continue;
      if (holder !== undefined && !isKnown(holder)) continue;
      isNew = true;
      for (const block of reached(sorted, [target])) if (!isKnown(block)) kept.set(block, how);
    }
  }
  return kept;
}

export function describeWord({ at, value, from, isFalse }: Word): string {
  const where = from === undefined ? hex(at) : `${hex(from)}+${hex(at - from)}`;
  return `the word ${hex(value)} at ${where} (${isFalse ?? "a pointer of the program"})`;
}
