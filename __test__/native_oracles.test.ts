/**
 * What allocators count themselves, against the blocks of a dump. Emscripten takes some seconds for each program:
 * `npm run test:native`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { CLANG, emscripten, runGuest } from "./support/native_guest.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-oracles-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SLOW = process.env.TEST_NATIVE === undefined ? [] : [emscripten("dlmalloc"), emscripten("emmalloc")];
const TOOLCHAINS = [CLANG, ...SLOW];
/** The bytes of headers that count as a block's. */
const overheadOf = (name: string) => (name.endsWith("emmalloc") ? 8 : 4);

test.for(TOOLCHAINS)("$name: malloc_usable_size and mallinfo agree", ({ name, make }, context) => {
  const wasm = join(folder, `${name}.wasm`);
  const problem = make("mi.c", "-O2", wasm);
  if (problem !== undefined) return context.skip(problem);
  const guest = runGuest(wasm);
  const counted = JSON.parse(guest.output) as Record<"count" | "usable" | "used", number>;
  const heap = openHeap(guest.dump, guest.wasm);
  const sizes = heap.find({ limit: 10_000 }).objects.map(({ shallowSize }) => shallowSize);
  heap.close();
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(sizes.length).toBe(counted.count);
  expect(total - overheadOf(name) * sizes.length).toBe(counted.usable);
  // emmalloc's own sum is another one, and wasi-libc has none.
  if (name === "emcc-dlmalloc") expect(total).toBe(counted.used);
});
