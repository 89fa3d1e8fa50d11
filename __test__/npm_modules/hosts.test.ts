// Which JavaScript objects hold objects of the module of a published npm package.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../../dist/index.js";

const FOLDER = import.meta.dirname;

describe.skipIf(!existsSync(join(FOLDER, "node_modules/@fluffylabs")))(
  "@fluffylabs/anan-as",
  () => {
    let folder: string;
    let wasm: string;
    const truth = { cache: [] as number[], tenant: [] as number[] };

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "npm-hosts-"));
      const args = [join(FOLDER, "hosts/anan.mjs"), join(folder, "anan")];
      wasm = execFileSync(process.execPath, args, { encoding: "utf8" }).trim();
      for (const line of readFileSync(join(folder, "anan.truth.txt"), "utf8").trim().split("\n")) {
        const [kind, address] = line.split(" ") as ["cache" | "tenant", string];
        truth[kind].push(Number(address));
      }
    }, 120_000);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    /** The joined heaps of one of the pairs. */
    function open(moment: string) {
      const prefix = join(folder, `anan-${moment}`);
      return openHeapFile(`${prefix}.dump`, wasm, { host: `${prefix}.heapsnapshot` });
    }

    test("each prepared program has the wrapper of the bindings as its holder", () => {
      const heap = open("all");
      for (const address of [...truth.cache, ...truth.tenant]) {
        const { referrers } = heap.referrers(address);
        const holders = referrers.filter(({ evidence }) => evidence !== undefined);
        expect(holders).toHaveLength(1);
        expect(holders[0]).toMatchObject({ className: "Internref", evidence: { kind: "exact" } });
      }
      const { joined } = heap.summary();
      expect(joined?.pinned).toMatchObject({ exact: 85, derived: 0 });
      heap.close();
    });

    test("programs whose wrappers were deleted await their release, and are gone after it", () => {
      const deleted = open("deleted");
      expect(deleted.summary().joined?.pinned).toMatchObject({ exact: 60, awaitingRelease: 25 });
      deleted.close();
      const released = open("released");
      expect(released.summary().joined?.pinned).toMatchObject({ exact: 60, awaitingRelease: 0 });
      for (const address of truth.tenant) expect(released.object(address).path).toBe(null);
      released.close();
    });
  },
);

describe.skipIf(!existsSync(join(FOLDER, "node_modules/tiktoken")))("tiktoken", () => {
  test("each encoder of Rust has the handle of wasm-bindgen as its holder, and freed ones have none", () => {
    const folder = mkdtempSync(join(tmpdir(), "npm-hosts-"));
    const prefix = join(folder, "tiktoken");
    const args = [join(FOLDER, "hosts/tiktoken.mjs"), prefix];
    const wasm = execFileSync(process.execPath, args, { encoding: "utf8" });
    const truth = JSON.parse(readFileSync(`${prefix}.truth.json`, "utf8"));
    const heap = openHeapFile(`${prefix}.dump`, wasm, { host: `${prefix}.heapsnapshot` });
    expect(truth.cache).toHaveLength(12);
    for (const address of truth.cache) {
      // Before the object are the counts of `Rc`.
      const { referrers } = heap.referrers(Number(address) - 8);
      const holders = referrers.filter(({ evidence }) => evidence !== undefined);
      expect(holders).toMatchObject([{ className: "Tiktoken", evidence: { kind: "exact" } }]);
    }
    const { joined } = heap.summary();
    expect(joined?.pinned).toMatchObject({ exact: 12, derived: 0 });
    heap.close();
    rmSync(folder, { recursive: true });
  }, 120_000);
});
