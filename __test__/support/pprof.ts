/** Profiles for pprof, as text and numbers. */
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";
import { captureDump } from "../../dist/capture.js";
import { openHeap } from "../../dist/index.js";
import type { Profiler } from "../../dist/profile.js";
import type { Accounting } from "../../index.js";

/** A sample of a profile, as text and numbers. */
export interface Sample {
  /** `function file:line`, the innermost first. */
  stack: string[];
  values: number[];
}

export function decoded(encoded: Uint8Array): { types: string[]; samples: Sample[] } {
  const profile = Profile.decode(gunzipSync(encoded));
  const text = (at: number | bigint) => profile.stringTable.strings[Number(at)] as string;
  const functions = new Map(profile.function.map((one) => [one.id, one]));
  const places = new Map(
    profile.location.map(({ id, line }) => [
      id,
      line.map((one) => {
        const { name, filename } = functions.get(one.functionId) as (typeof profile.function)[0];
        return `${text(name)} ${text(filename)}:${one.line}`;
      }),
    ]),
  );
  return {
    types: profile.sampleType.map(({ type }) => text(type)),
    samples: profile.sample.map(({ locationId, value }) => ({
      stack: locationId.flatMap((id) => places.get(id) as string[]),
      values: value.map(Number),
    })),
  };
}

/** The blocks in use of a profile by the line that allocated them, `file:line`: their number and bytes. */
export function sites(encoded: Uint8Array): Map<string, [blocks: number, bytes: number]> {
  const start = "warpo_heap_analyzer_profile:";
  const { strings } = Profile.decode(gunzipSync(encoded)).stringTable;
  const text = strings.find((one) => one.startsWith(start)) ?? `${start}null`;
  const { places, blocks } = JSON.parse(text.slice(start.length));
  const sums = new Map<string, [number, number]>();
  const addresses = new Set<number>();
  for (let at = 0; at < blocks.length; at += 3) {
    addresses.add(blocks[at]);
    const { file, line } = places[blocks[at + 2]];
    const place = `${file.split("/").at(-1)}:${line}`;
    const [count, bytes] = sums.get(place) ?? [0, 0];
    sums.set(place, [count + 1, bytes + blocks[at + 1]]);
  }
  if (3 * addresses.size !== blocks.length) throw new Error("two live blocks have one address");
  return sums;
}

/** The sums of all samples whose stack has a place that ends so. */
export function sumsThrough(encoded: Uint8Array, place: string): number[] {
  const { types, samples } = decoded(encoded);
  const through = samples.filter(({ stack }) => stack.some((frame) => frame.endsWith(place)));
  return types.map((_, nth) =>
    through.reduce((sum, { values }) => sum + (values[nth] as number), 0),
  );
}

/** The bytes in use, by the profile. */
export function usedBytes(profiler: Profiler): number {
  const { types, samples } = decoded(profiler.heapProfile());
  const at = types.indexOf("inuse_space");
  return samples.reduce((sum, { values }) => sum + (values[at] as number), 0);
}

/** The bytes in use, by the walk of a dump. */
export function walkedBytes(exports: WebAssembly.Exports, wasm: Uint8Array): number {
  const heap = openHeap(captureDump(exports), wasm);
  const { live, garbage, raw } = heap.accounting as Accounting;
  heap.close();
  return live.global + live.stack + live.pinned + garbage + raw;
}
