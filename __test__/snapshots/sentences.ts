/** Checks what answers say with a number and an address against a naive definition, sentence by sentence. */
import { expect } from "vitest";
import { check, growth, openHeap } from "../../dist/index.js";
import type { GrowingPlace, Heap, PlaceTable, Suspect } from "../../index.js";
import { randomFrom } from "../random/stream.ts";
import { type LayeredEdge, LayeredHeap, withoutIndex } from "./layered.ts";

const UNITS: Record<string, number> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20 };

/** Whether a text such as `4.0 KiB` is a number of bytes, rounded. */
export function isSize(text: string, bytes: number): boolean {
  const [number = "", unit = ""] = text.replaceAll(",", "").split(" ");
  const digits = number.split(".")[1]?.length ?? 0;
  const size = UNITS[unit] as number;
  return Math.abs(Number(number) * size - bytes) <= (size * 10 ** -digits) / 2 + 1e-6;
}

/** The heap in which a suspect is said to be, and for growth the one before it. */
export interface Told {
  heap: LayeredHeap;
  before: LayeredHeap | undefined;
  threshold: number;
  suspect: Suspect;
}

export type Rule = [RegExp, (told: Told, ...parts: string[]) => boolean];

export const sum = (heap: LayeredHeap, objects: readonly number[]) =>
  objects.reduce((total, nth) => total + heap.retained(nth), 0);
export const ofClass = (heap: LayeredHeap, objects: readonly number[], name: string) =>
  objects.filter((nth) => heap.objects[nth]?.className === name);
export const isShare = (heap: LayeredHeap, percent: string, bytes: number) =>
  Math.abs(Number(percent) - (100 * bytes) / heap.size(heap.reached())) <= 0.51;

/** The path to which the objects at a place belong, and those before it. */
const placesOn = ({ suspect }: Told, places: Map<string, number[]>) =>
  [...places].filter(([path]) => {
    const start = path.slice(0, path.lastIndexOf(" > "));
    return suspect.path?.text === path || suspect.path?.text.startsWith(`${start} > `) === true;
  });

/** Whether there are objects at a place of the path that retain this, and more than before. */
function hasGrown(told: Told, count: number, className: string, size: string, more: string) {
  const { heap, before } = told;
  return placesOn(told, heap.places()).some(([path, objects]) => {
    const earlier = before?.places().get(path) ?? [];
    const [now, then] = [sum(heap, objects), sum(before as LayeredHeap, earlier)];
    const isClass = heap.objects[objects[0] as number]?.className === className;
    return isClass && objects.length === count && isSize(size, now) && isSize(more, now - then);
  });
}

/** Whether the place after an object on a path has this much more. */
export function hasMore(told: Told, id: string, count: number, className: string, size: string) {
  const { heap, before } = told;
  const holders = [...heap.places()].find(([, objects]) => objects.includes(heap.at(Number(id))));
  if (holders === undefined) return false;
  return [...heap.places()].some(([path, objects]) => {
    const isBehind = path.startsWith(`${holders[0]}.`) || path.startsWith(`${holders[0]}[`);
    if (!isBehind || path.split(" > ").length !== holders[0].split(" > ").length + 1) return false;
    const earlier = before?.places().get(path) ?? [];
    const more = sum(heap, objects) - sum(before as LayeredHeap, earlier);
    const isClass = heap.objects[objects[0] as number]?.className === className;
    return isClass && objects.length - earlier.length === count && isSize(size, more);
  });
}

/** Whether the last reference in the name of an owner is one to the object. */
function isReferredTo(heap: LayeredHeap, nth: number, owner: string): boolean {
  return heap.edges.some(({ to, label }) => to === nth && owner.endsWith(withoutIndex(label)));
}

export const RULES: Rule[] = [
  [
    /^One (\S+) at @(\d+) retains (\S+ \S+), (\d+) % of the live bytes$/,
    ({ heap }, className = "", id, size = "", share = "") => {
      const nth = heap.at(Number(id));
      const retained = heap.retained(nth);
      const isClass = heap.objects[nth]?.className === className;
      return isClass && isSize(size, retained) && isShare(heap, share, retained);
    },
  ],
  [
    /^(\d+) (\S+) together retain (\S+ \S+), (\d+) % of the live bytes$/,
    ({ heap, threshold }, count, className = "", size = "", share = "") => {
      // Those that are suspects alone do not count.
      const top = ofClass(heap, heap.children(0), className);
      const small = top.filter((nth) => heap.retained(nth) < threshold);
      const retained = sum(heap, small);
      return (
        small.length === Number(count) && isSize(size, retained) && isShare(heap, share, retained)
      );
    },
  ],
  [
    /^One (\S+) retains (\S+ \S+), which is (\S+ \S+) more than before and (\d+) % of the live bytes$/,
    (told, className = "", size = "", more = "") => hasGrown(told, 1, className, size, more),
  ],
  [
    /^(\d+) (\S+) retain (\S+ \S+), which is (\S+ \S+) more than before and (\d+) % of the live bytes$/,
    (told, count, className = "", size = "", more = "") =>
      hasGrown(told, Number(count), className, size, more),
  ],
  [
    /^It accumulates in \S+ at @(\d+): ([1-9]\d*) more (\S+) with (\S+ \S+)$/,
    (told, id = "", count, className = "", size = "") =>
      hasMore(told, id, Number(count), className, size),
  ],
  [
    /^It accumulates in \S+ at @(\d+): (\S+ \S+) more in (\S+)$/,
    (told, id = "", size = "", className = "") => hasMore(told, id, 0, className, size),
  ],
  [
    /^It accumulates in (\d+) \S+ such as \S+ at @(\d+): ([1-9]\d*) more (\S+) with (\S+ \S+)$/,
    (told, _, id = "", count, className = "", size = "") =>
      hasMore(told, id, Number(count), className, size),
  ],
  [
    /^It accumulates in (\d+) \S+ such as \S+ at @(\d+): (\S+ \S+) more in (\S+)$/,
    (told, _, id = "", size = "", className = "") => hasMore(told, id, 0, className, size),
  ],
  [
    /^Letting go of all (\d+) frees at least (\S+ \S+)$/,
    ({ heap, suspect }, count, size = "") => {
      const one = heap.at(suspect.accumulation?.address ?? 0);
      const all = [...heap.places().values()].find((objects) => objects.includes(one)) ?? [];
      const freed = heap.size(heap.gone(new Set(all)));
      return all.length === Number(count) && (isSize(size, freed) || freed > sizeOf(size));
    },
  ],
  [
    /^It accumulates in (\S+): ([1-9]\d*) (\S+) with (\S+ \S+)$/,
    ({ heap, suspect, threshold }, owner = "", count, className = "", size = "") => {
      const nth = heap.at(suspect.accumulation?.address ?? 0);
      const isOwned = isReferredTo(heap, nth, owner);
      const own = ofClass(heap, heap.children(nth), className);
      const small = own.filter((one) => heap.retained(one) < threshold);
      return isOwned && small.length === Number(count) && isSize(size, sum(heap, small));
    },
  ],
  [
    /^It is in (\S+)$/,
    ({ heap, suspect }, owner = "") =>
      isReferredTo(heap, heap.at(suspect.accumulation?.address ?? 0), owner),
  ],
  [
    /^It is in (\d+) (\S+) such as (\S+) at @(\d+)$/,
    ({ heap, suspect }, count, className = "", owner = "", id) => {
      const all = heap.places().get(suspect.path?.text ?? "") ?? [];
      const isOfAll = all.includes(heap.at(Number(id))) && all.length === Number(count);
      const isClass = ofClass(heap, all, className).length === all.length;
      return isOfAll && isClass && isReferredTo(heap, heap.at(Number(id)), owner);
    },
  ],
  [
    /^It is in (\S+) at @(\d+)$/,
    ({ heap }, owner = "", id) => isReferredTo(heap, heap.at(Number(id)), owner),
  ],
  [
    /^(?:Path|The path of the largest): (.+) \(fingerprint [0-9a-f]{12}\)$/,
    ({ heap }, path = "") => objectsOn(heap, path).size > 0,
  ],
  [
    /^Cutting (\S+) frees (\S+ \S+)$/,
    ({ heap }, reference = "", size = "") =>
      heap.edges.some((edge) => {
        const name = `${heap.objects[edge.from]?.className}${edge.label}`;
        return name === reference && isSize(size, heap.size(heap.gone(new Set(), edge)));
      }),
  ],
];

export function sizeOf(text: string): number {
  const [number = "", unit = ""] = text.replaceAll(",", "").split(" ");
  return Number(number) * (UNITS[unit] as number);
}

/** The objects to which a path such as `global global > global.p0 > L1a[*] > L2a` leads. */
function objectsOn(heap: LayeredHeap, path: string): Set<number> {
  const [, ...steps] = path.split(" > ");
  const last = steps.pop();
  let here = new Set([0]);
  for (const step of steps) {
    const next = heap.edges.filter(
      ({ from, label }) =>
        here.has(from) && `${heap.objects[from]?.className}${withoutIndex(label)}` === step,
    );
    here = new Set(next.map(({ to }) => to));
  }
  return new Set(ofClass(heap, [...here], last ?? ""));
}

/** The sentences that are not true of their heap, or that no rule knows. */
export function falseSentences(told: Told, text: string, rules: readonly Rule[] = RULES): string[] {
  const sentences = text.slice(0, -1).split(/\. (?=[A-Z0-9])/);
  return sentences.filter((sentence) => {
    const rule = rules.find(([shape]) => shape.test(sentence));
    const [, ...parts] = rule?.[0].exec(sentence) ?? [];
    return rule === undefined || !rule[1](told, ...parts);
  });
}

export const opened = (heap: LayeredHeap): Heap => openHeap(Buffer.from(heap.text()));

/** What `suspects` says of a random heap. Returns how many sentences there are. */
export function checkSuspects(seed: number): number {
  const heap = new LayeredHeap(seed, false);
  return checkTexts(heap, undefined);
}

/** What `suspects` with an earlier heap says of a random tree that grew at one depth. */
export function checkGrownSuspects(seed: number): number {
  const [before, after] = grown(seed, 2) as [LayeredHeap, LayeredHeap];
  return checkTexts(after, before);
}

function checkTexts(heap: LayeredHeap, before: LayeredHeap | undefined): number {
  const asked = before === undefined ? undefined : { before: opened(before) };
  const { suspects, threshold } = opened(heap).suspects(asked);
  let count = 0;
  for (const suspect of suspects) {
    const told = { heap, before, threshold, suspect };
    expect(falseSentences(told, suspect.text), suspect.text).toEqual([]);
    count += suspect.text.split(". ").length;
  }
  return count;
}

/** Trees of one seed, each with more objects than the one before it. */
export function grown(seed: number, dumps: number): LayeredHeap[] {
  return Array.from({ length: dumps }, (_, dump) => {
    const heap = new LayeredHeap(seed, true);
    const below = randomFrom(seed + 1);
    const depth = 2 + (seed % 3);
    for (let more = 0; more < 20 * dump; more++) heap.add(below, depth, true, 2000);
    return heap;
  });
}

/** The numbers of every place that `growth` and `check` list. Returns how many places there are. */
export function checkGrowth(seed: number): number {
  const heaps = grown(seed, 8);
  const tables: PlaceTable[] = heaps.map((heap) => opened(heap).placeTable());
  const answers = [growth(tables), check(tables)];
  for (const { places } of answers) {
    for (const place of places) {
      const { path, counts, bytes, retained, perInterval } = place;
      const at = heaps.map((heap) => ({ heap, all: objectsAt(heap, place) }));
      const [numbers, shallow, kept] = [
        at.map(({ all }) => all.length),
        at.map(({ heap, all }) => heap.size(all)),
        at.map(({ heap, all }) => sum(heap, all)),
      ];
      expect({ path, counts, bytes, retained }).toEqual({
        path,
        counts: numbers,
        bytes: shallow,
        retained: kept,
      });
      const rate = (all: number[] = []) => ((all.at(-1) ?? 0) - (all[0] ?? 0)) / 7;
      expect(perInterval.count).toBeCloseTo(rate(numbers), 2);
      expect(perInterval.retained).toBeCloseTo(rate(kept), 2);
    }
  }
  return answers.flatMap(({ places }) => places).length;
}

/** The objects of a place; without a path, those to which a field of a class refers, or all of a class. */
function objectsAt(heap: LayeredHeap, { path, label, className }: GrowingPlace): number[] {
  if (path !== null) return heap.places().get(path) ?? [];
  const all = ofClass(heap, [...heap.objects.keys()], className);
  if (label === null) return all;
  const isField = ({ from, label: own }: LayeredEdge) =>
    `${heap.objects[from]?.className}${withoutIndex(own)}` === label;
  const fields = heap.edges.filter(isField).map(({ to }) => to);
  return all.filter((nth) => fields.includes(nth));
}

/** The path, the sizes and the cut of every object. Returns how many objects there are. */
export function checkPaths(seed: number): number {
  const heap = new LayeredHeap(seed, false);
  const asked = opened(heap);
  for (const [nth, { id }] of heap.objects.entries()) {
    if (nth === 0) continue;
    const { path, cut, retainedSize, shallowSize } = asked.paths(id);
    expect({ retainedSize, shallowSize }).toEqual({
      retainedSize: heap.retained(nth),
      shallowSize: heap.objects[nth]?.size,
    });
    const steps = path?.steps.map(({ address }) => heap.at(address)) ?? [];
    expect([steps[0], steps.at(-1)]).toEqual([0, nth]);
    for (const [at, step] of (path?.steps ?? []).entries()) {
      const here = steps[at] as number;
      expect(step.retainedSize).toBe(heap.retained(here));
      const isThere = ({ from, to, label }: { from: number; to: number; label: string }) =>
        from === steps[at - 1] && to === here && label === step.labelText;
      expect(at === 0 || heap.edges.some(isThere)).toBe(true);
    }
    if (cut === null || cut.className === null) continue;
    const freed = heap.edges
      .filter(
        (edge) =>
          `${heap.objects[edge.from]?.className}${edge.label}` ===
          `${cut.className}${cut.labelText}`,
      )
      .map((edge) => heap.size(heap.gone(new Set(), edge)));
    expect(freed).toContain(cut.freed);
    // What frees much more than the object is no advice about the object.
    expect(cut.freed).toBeLessThanOrEqual(1.5 * retainedSize);
  }
  return heap.objects.length;
}
