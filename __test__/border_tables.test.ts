/** Objects of JavaScript that a program of Rust holds through the table of `externref` that wasm-bindgen makes. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectHolders, unpackProgram } from "./support/table_of_objects.ts";

const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const HOSTS = [
  { title: "this Node", node: process.execPath },
  { title: "Node 22", node: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", node: join(VERSIONS, "node-24/bin/node") },
];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "border-tables-"));
  unpackProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(HOSTS)("$title", ({ node }) => {
  describe.skipIf(!existsSync(node))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test("a table of externref holds the objects that Rust uses; a declared field shows which object of Rust uses each", () => {
        const prefix = join(mkdtempSync(join(folder, "pair-")), "pair");
        const { status, stderr } = spawnSync(node, ["desk.mjs", prefix], {
          cwd: folder,
          encoding: "utf8",
        });
        expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
        expectHolders(folder, prefix, JSON.parse(readFileSync(`${prefix}.truth.json`, "utf8")));
      });
    },
  );
});
