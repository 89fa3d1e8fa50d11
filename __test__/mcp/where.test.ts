// Conditions over fields, for agents and for editors.

import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOSTILE_EXPRESSIONS } from "../support/hostile_expressions.ts";
import { sessionsFolder } from "../support/sessions.ts";
import { connect, type Structured } from "./client.ts";
import { editorOf } from "./editor.ts";

let folder: string;

beforeAll(async () => {
  folder = await sessionsFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Asks the three questions, and checks the answers. */
async function check(
  ask: (method: string, args: Record<string, unknown>) => Promise<Structured>,
): Promise<void> {
  const { heaps } = await ask("open_heaps", { dumps: ["app.dump"], wasm: "app.wasm" });
  const heap = heaps[0].heap;
  const closed = await ask("find", {
    heap,
    class: "*/Session",
    where: "open == false",
    count: true,
  });
  expect(closed).toMatchObject({ found: 100, objects: [], page: { total: 0, next: null } });
  const missing = await ask("find", { heap, class: "*/Plate", where: "!(this.key in plateOrder)" });
  expect(missing.found).toBe(3);
  expect(missing.objects).toHaveLength(3);
  const groups = await ask("find", { heap, class: "*/Session", groupBy: "open", limit: 1 });
  expect(groups).toMatchObject({
    groups: [{ text: "true", count: 200 }],
    page: { total: 2, next: 1 },
  });
  const map = await ask("find", { heap, class: "~lib/map/Map*", where: "size() == 300" });
  const address = map.objects[0].address;
  const page = await ask("object", { heap, address, entries: 100, entriesOffset: 100 });
  expect(page.entries).toMatchObject({ total: 300, offset: 100 });
  expect(page.entries.entries[0].key.value).toBe(100);
  await expect(ask("find", { heap, where: "opne" })).rejects.toThrow(/character 1/);
  for (const where of HOSTILE_EXPRESSIONS) {
    await expect(ask("find", { heap, where }), where.slice(0, 40)).rejects.toThrow();
  }
  const [before, later] = await ask("open_heaps", {
    dumps: ["app.dump", "later.dump"],
    wasm: "app.wasm",
  }).then(({ heaps }) => heaps.map((one: { heap: string }) => one.heap));
  const added = { class: "*/Session", where: "isNew", count: true };
  expect(await ask("find", { heap: later, before, ...added })).toMatchObject({ found: 5 });
  expect(await ask("find", { heap: later, before: later, ...added })).toMatchObject({ found: 0 });
}

test("an agent asks them", async () => {
  const session = await connect(["--root", folder]);
  await check((name, args) => session.call(name, args));
  await session.close();
});

test("an editor asks them over JSON-RPC", async () => {
  const { ask, end } = editorOf(folder);
  await check(ask);
  end();
});
