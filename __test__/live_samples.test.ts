// The live samples of a profiler, judged by a map with the same operations.

import { expect, test } from "vitest";
import { LiveSamples } from "../dist/profile/live_samples.js";
import { randomFrom } from "./random/stream.ts";

/** Bits of an address, as the masks have them. */
function masksOf(addresses: Iterable<number>): bigint[] {
  const masks = [0n, 0n];
  for (const address of addresses) {
    for (const [nth, shift] of [4, 10].entries()) {
      masks[nth] = (masks[nth] as bigint) | (1n << BigInt((address >>> shift) % 64));
    }
  }
  return masks;
}

function record(samples: LiveSamples, address: number, size: number, known: number) {
  samples.record(known);
  samples.imports.keep(address, size);
}

function contents(samples: LiveSamples) {
  return new Map([...samples].map(([address, size, known]) => [address, [size, known]]));
}

test.each([
  ["few addresses, which are often freed", 500, 2],
  ["many addresses, for which the table grows", 100_000, 8],
])("%s: the samples are those of a map", (_, addresses, keptPerFreed) => {
  const below = randomFrom(11);
  const samples = new LiveSamples();
  const expected = new Map<number, [size: number, known: number]>();
  for (let nth = 1; nth <= 30_000; nth++) {
    // Also addresses from 2 GiB, which are negative numbers for the module.
    const address = (16 * (1 + below(addresses)) + (below(2) === 0 ? 0 : 2 ** 31)) >>> 0;
    if (below(keptPerFreed) === 0) {
      expect(samples.imports.freed(address)).toBe(Number(expected.delete(address)));
    } else {
      const size = below(2 ** 32);
      record(samples, address, size, nth);
      expected.set(address, [size, nth]);
    }
    if (nth % 3000 === 0) {
      expect(contents(samples)).toEqual(expected);
      const masks = [samples.imports.mask(0), samples.imports.mask(1)];
      expect(masks.map((mask) => BigInt.asUintN(64, mask))).toEqual(masksOf(expected.keys()));
    }
  }
  for (const address of expected.keys()) expect(samples.imports.freed(address)).toBe(1);
  expect(contents(samples)).toEqual(new Map());
  expect(samples.imports.mask(0)).toBe(0n);
});

test("an allocation that the host did not record is not kept", () => {
  const samples = new LiveSamples();
  samples.imports.keep(16, 48);
  record(samples, 32, 48, 1);
  samples.imports.keep(64, 48);
  expect(contents(samples)).toEqual(new Map([[32, [48, 1]]]));
});

test("what is known of a sample is replaced only if it is that sample", () => {
  const samples = new LiveSamples();
  record(samples, 16, 48, 7);
  samples.replace(16, 6, 1);
  samples.replace(32, 7, 1);
  expect(contents(samples)).toEqual(new Map([[16, [48, 7]]]));
  samples.replace(16, 7, 1);
  expect(contents(samples)).toEqual(new Map([[16, [48, 1]]]));
});
