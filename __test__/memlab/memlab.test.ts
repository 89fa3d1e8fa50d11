// Heap snapshots, as memlab reads them.

import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe } from "vitest";
import { testReader } from "../support/heap_snapshot_suite.ts";
import { isMemlabInstalled, loadInMemlab, readMemlab } from "./snapshot.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-memlab-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe.skipIf(!isMemlabInstalled())("memlab", () => {
  testReader({
    read: async (heap, options) => {
      const file = join(folder, "app.heapsnapshot");
      await pipeline(heap.export("heapsnapshot", options), createWriteStream(file));
      return readMemlab(await loadInMemlab(file));
    },
    withSets: false,
  });
});
