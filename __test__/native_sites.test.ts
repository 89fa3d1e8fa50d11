// The lines that allocated the blocks of a program of C, by a profile of the same moment. The judge is the log.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeap } from "../dist/index.js";
import { createProfiler, instrument, retainedBySite } from "../dist/profile.js";
import { runIn } from "./support/command_line.ts";
import { clang, dumped, hasClang, type NativeGuest } from "./support/native_program.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "native-sites-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!hasClang).each(["-O0", "-O2"])("clang %s", (level) => {
  let guest: NativeGuest;
  let profile: Uint8Array<ArrayBuffer>;
  /** Some blocks less than the program has. */
  let earlier: Uint8Array<ArrayBuffer>;
  beforeAll(() => {
    const file = join(folder, `guest${level}.wasm`);
    expect(clang(file, "guest", level)).toMatchObject({ status: 0 });
    const program = instrument(readFileSync(file));
    const profiler = createProfiler(program, { interval: 1 });
    earlier = profiler.heapProfile();
    guest = dumped(file, {
      wasm: program.wasm,
      imports: profiler.imports,
      attach: (exports) => profiler.attach(exports),
      onDump: () => {
        profile = profiler.heapProfile();
      },
    });
  });

  test("every block has the line and the size with which it was allocated", () => {
    const heap = openHeap(readFileSync(guest.dump), guest.wasm, { profile });
    expect(heap.warnings.map(({ code }) => code)).not.toContain("WARN_PROFILE_DIFFERS");
    for (const [block, requested] of guest.live) {
      const { allocatedAt, requestedSize } = heap.object(block);
      expect(requestedSize).toBe(requested);
      expect(allocatedAt?.line).toBeGreaterThan(0);
    }
    const lines = new Set(
      [...guest.fates]
        .filter(([, fate]) => fate === "leaked")
        .map(([block]) => heap.object(block).allocatedAt?.line),
    );
    const source = readFileSync(join(import.meta.dirname, "programs/native/guest.c"), "utf8");
    const lineOf = (text: string) => source.slice(0, source.indexOf(text)).split("\n").length;
    // The sessions that leaked with their names, and the buffers.
    expect(lines).toEqual(new Set([lineOf("// site: leak"), lineOf("// site: session")]));
    heap.close();
  });

  test("a profile of another moment causes a warning", () => {
    const heap = openHeap(readFileSync(guest.dump), guest.wasm, { profile: earlier });
    const [warning] = heap.warnings.filter(({ code }) => code === "WARN_PROFILE_DIFFERS");
    expect(warning?.message).toContain(
      `0 are only in the profile and ${guest.live.size} only in the dump`,
    );
    heap.close();
  });

  test("sites sum up what is alive", () => {
    const heap = openHeap(readFileSync(guest.dump), guest.wasm);
    const { exact, sites, otherBlocks } = retainedBySite(heap, profile);
    expect({ exact, otherBlocks }).toEqual({ exact: true, otherBlocks: 0 });
    expect(sites.reduce((sum, { count }) => sum + count, 0)).toBe(guest.live.size);
    heap.close();
  });

  test("commands say the line", () => {
    writeFileSync(join(folder, "heap.pb.gz"), profile);
    writeFileSync(join(folder, "run.wasm"), guest.wasm);
    const inputs = [guest.dump, "--wasm", "run.wasm", "--profile", "heap.pb.gz"];
    const [leaked] = [...guest.fates].find(([, fate]) => fate === "leaked") as [number, string];
    const paths = runIn(folder, ["paths", ...inputs, "--object", String(leaked)]).stdout;
    expect(paths).toMatch(/block of \d+ B from leak_buffers \(guest\.c:\d+\)/);
    const unreachable = runIn(folder, ["unreachable", ...inputs]).stdout;
    expect(unreachable).toMatch(/^unreferenced: \d+ blocks, .*, which \d+ entries hold$/m);
    expect(unreachable).toMatch(/block of \d+ B from open_session \(guest\.c:\d+\)/);
  });
});
