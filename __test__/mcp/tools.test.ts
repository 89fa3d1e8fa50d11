// The tools of the MCP server, driven by the official client of both generations of the protocol.

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHeapFile } from "../../dist/index.js";
import { type LeakyServer, leakyServer } from "../support/leaky_server.ts";
import { answerSchemas, connect, GENERATIONS, type Session, textOf } from "./client.ts";

let server: LeakyServer;
let exports: string;

beforeAll(async () => {
  server = await leakyServer();
  exports = mkdtempSync(join(tmpdir(), "mcp-exports-"));
});
afterAll(() => rmSync(exports, { recursive: true }));

describe.each(GENERATIONS)("protocol %s", (generation) => {
  let session: Session;
  let before: string;
  let after: string;

  beforeAll(async () => {
    session = await connect(["--root", server.folder, "--export-folder", exports], generation);
    const { heaps } = await session.call("open_heaps", { dumps: ["before.dump", "after.dump"] });
    [before, after] = heaps.map(({ heap }: { heap: string }) => heap);
  });
  afterAll(() => session.close());

  test("there are at most 13 tools, each with a description and the schemas of its arguments and its answer", async () => {
    const { tools } = await session.client.listTools();
    expect(tools.length).toBeLessThanOrEqual(13);
    const answers = await answerSchemas(session);
    for (const { name, description, inputSchema } of tools) {
      expect(name).toMatch(/^[a-z_]+$/);
      expect(description?.length, name).toBeGreaterThan(80);
      expect(description?.length, name).toBeLessThan(400);
      expect(inputSchema.type).toBe("object");
      expect(answers[name]).toMatchObject({ type: "object" });
    }
  });

  test("the list of tools is short, because a model may read it in each session", async () => {
    const { tools } = await session.client.listTools();
    expect(JSON.stringify(tools).length).toBeLessThan(12_000);
  });

  test("every tool answers, and its structured content fits its schema", async () => {
    const { tools } = await session.client.listTools();
    const [{ address }] = (await session.call("find", { heap: after, class: "*PriceFeed" }))
      .objects;
    const name = `${generation}.pb.gz`;
    const requests: [string, Record<string, unknown>][] = [
      ["list_dumps", {}],
      ["open_heaps", { dumps: ["after.dump"], wasm: "server.wasm" }],
      ["suspects", { heap: after }],
      ["suspects", { heap: after, before, threshold: 0.5, limit: 1 }],
      ["growth", { heaps: [before, after] }],
      ["paths", { heap: after, address }],
      ["paths", { heap: after, class: "*String" }],
      ["paths", { heap: after, newSince: before }],
      ["classes", { heap: after, sort: "count", class: "*Price*" }],
      ["compare", { heap: after, before }],
      ["find", { heap: after, contains: "products", minSize: 1 }],
      ["object", { heap: after, address, entries: 5, entriesOffset: 1 }],
      ["object", { heap: after, address: `0x${address.toString(16)}` }],
      ["dominators", { heap: after }],
      ["dominators", { heap: after, address, by: "class" }],
      ["waste", { heap: after }],
      ["waste", { heap: after, of: "unreachable" }],
      ["export", { heap: after, format: "pprof", name }],
    ];
    // `sites` needs a profile: `profile_site_growth.test.ts` asks it.
    expect(new Set([...requests.map(([tool]) => tool), "sites"])).toEqual(
      new Set(tools.map((tool) => tool.name)),
    );
    const ajv = new Ajv2020({ strict: false });
    const schemas = new Map(
      Object.entries(await answerSchemas(session)).map(([tool, schema]) => [
        tool,
        ajv.compile(schema),
      ]),
    );
    for (const [tool, args] of requests) {
      const answer = await session.call(tool, args);
      const isValid = schemas.get(tool);
      expect(isValid?.(answer), `${tool}: ${ajv.errorsText(isValid?.errors)}`).toBe(true);
      // Two dumps are few for growth, which a warning says.
      const numbers = tool === "growth" ? "may be wrong, see warnings" : "exact";
      expect(answer.evidence.numbers).toBe(numbers);
      expect(answer.partial).toBe(false);
    }
  });

  test("answers have the numbers of the analyzer", async () => {
    const [heap, earlier] = [server.after, server.before].map((dump) =>
      openHeapFile(dump, server.wasm),
    );
    if (heap === undefined || earlier === undefined) throw new Error("no heap");
    const { schemaVersion, ...suspects } = heap.suspects({ before: earlier });
    expect(await session.call("suspects", { heap: after, before })).toMatchObject(suspects);
    const [first] = heap.constructors({ sort: "count" }).constructors;
    const { rows, page } = await session.call("classes", { heap: after, sort: "count", limit: 1 });
    expect(rows).toEqual([
      {
        className: first?.className,
        count: first?.count,
        shallowSize: first?.totalShallowSize,
        retainedSize: first?.retainedSetSize,
      },
    ]);
    expect(page).toEqual({ total: heap.summary().classes, offset: 0, listed: 1, next: 1 });
    const [largest] = heap.find().objects;
    const object = heap.object(largest?.address ?? 0);
    const answer = await session.call("object", { heap: after, address: object.address });
    expect(answer).toMatchObject({ className: object.className, dominator: object.dominator });
    expect(answer.page.total).toBe(object.referrerCount + object.roots.length);
  });

  test("pages continue where the last one ended", async () => {
    const addresses: number[] = [];
    let offset: number | null = 0;
    while (offset !== null) {
      const answer = await session.call("find", { heap: after, limit: 200, offset });
      addresses.push(...answer.objects.map(({ address }: { address: number }) => address));
      expect(answer.page.listed).toBe(answer.objects.length);
      if (answer.page.next !== null) {
        expect(answer.truncated[0]).toMatchObject({ at: "objects", total: answer.page.total });
      }
      offset = answer.page.next;
    }
    const all = openHeapFile(server.after, server.wasm).find({ limit: 1000 });
    expect(addresses).toEqual(all.objects.map(({ address }) => address));
  });

  test("tables of Parquet are those of the analyzer, for the hashes of the files", async () => {
    const name = (table: string) => `${generation}-${table}.parquet`;
    for (const table of ["class", "object", "edge"]) {
      const args = { heap: after, format: "parquet", table, name: name(table) };
      await session.call("export", { ...args, capturedAt: "2026-11-22T18:30:00Z" });
    }
    const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
    const heap = openHeapFile(server.after, server.wasm);
    for (const table of ["class", "object", "edge"] as const) {
      const written = readFileSync(join(exports, name(table)));
      const stream = heap.export("parquet", {
        table,
        dumpId: hash(server.after),
        moduleId: hash(server.wasm),
        capturedAt: new Date("2026-11-22T18:30:00Z"),
        dumpSize: statSync(server.after).size,
        source: "after.dump",
      });
      expect(written.equals(await buffer(stream))).toBe(true);
    }
    heap.close();
    const other = { heap: after, name: "other.parquet" };
    expect(await session.failure("export", { ...other, format: "parquet" })).toMatch(/needs table/);
    const wrong = { ...other, format: "pprof", table: "class" };
    expect(await session.failure("export", wrong)).toMatch(/for the format parquet: found pprof/);
  });

  test("an export is written where it is allowed, and replaces nothing", async () => {
    const args = { heap: after, before, format: "heap-diff", name: `${generation}.ndjson` };
    const { file, size, sha256 } = await session.call("export", args);
    const written = readFileSync(join(exports, file));
    expect(written.length).toBe(size);
    expect(createHash("sha256").update(written).digest("hex")).toBe(sha256);
    expect(await session.failure("export", args)).toMatch(/^ERR_FILE_EXISTS/);
    expect(readdirSync(exports).filter((name) => name.endsWith(".partial"))).toEqual([]);
    for (const name of ["../out", "a/b", ".hidden", ""]) {
      const refused = await session.failure("export", { ...args, name });
      expect(refused).toMatch(/^ERR_INVALID_ARGUMENTS: name/);
    }
  });

  test("a prompt and resources lead through a hunt", async () => {
    const { client } = session;
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["leak_hunt"]);
    const names = { before: "before.dump", after: "after.dump" };
    const prompt = await client.getPrompt({ name: "leak_hunt", arguments: names });
    const [message] = prompt.messages;
    expect(message?.content).toMatchObject({ type: "text" });
    expect(JSON.stringify(message)).toContain("after.dump");
    const { tools } = await client.listTools();
    const { resources } = await client.listResources();
    const guides = resources.filter(({ mimeType }) => mimeType === "text/markdown");
    for (const { uri } of guides) {
      const { contents } = await client.readResource({ uri });
      const [content] = contents;
      const text = content !== undefined && "text" in content ? content.text : "";
      expect(text).toMatch(/^# /);
      // What it names exists.
      for (const [, tool] of text.matchAll(/\b([a-z]+_[a-z]+)\b/g)) {
        expect(tools.map(({ name }) => name)).toContain(tool);
      }
    }
    expect(guides).toHaveLength(2);
    expect(client.getInstructions()).toContain("suspects");
  });

  test("a request of the wrong form is an error that names the argument", async () => {
    const wrong: [string, Record<string, unknown>, string][] = [
      ["find", {}, "heap"],
      ["find", { heap: 5 }, "heap"],
      ["find", { heap: after, limit: 1.5 }, "limit"],
      ["find", { heap: after, limit: 1e9 }, "limit"],
      ["find", { heap: after, colour: "red" }, "colour"],
      ["object", { heap: after, address: -1 }, "address"],
      ["open_heaps", { dumps: [] }, "dumps"],
      ["paths", { heap: after }, "exactly one"],
      ["paths", { heap: after, class: "*", address: 1 }, "exactly one"],
    ];
    for (const [tool, args, named] of wrong) {
      expect(await session.failure(tool, args)).toContain(named);
    }
    expect(await session.failure("find", { heap: after, class: "*Pricefeed" })).toMatch(
      /^ERR_UNKNOWN_CLASS: .*PriceFeed/,
    );
    expect(await session.failure("object", { heap: after, address: 1 })).toMatch(/^ERR_NO_OBJECT/);
    await expect(session.client.callTool({ name: "no_tool", arguments: {} })).rejects.toThrow(
      "no_tool",
    );
  });
});

test("without --export-folder there is no tool that writes", async () => {
  const session = await connect(["--root", server.folder]);
  const { tools } = await session.client.listTools();
  expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  await expect(session.client.callTool({ name: "export", arguments: {} })).rejects.toThrow(
    "export",
  );
  await session.close();
});

test("progress rises to the end, and a cancelled request is not answered", async () => {
  const session = await connect(["--root", server.folder]);
  const seen: number[] = [];
  const request = { name: "open_heaps", arguments: { dumps: ["before.dump", "after.dump"] } };
  const onprogress = ({ progress }: { progress: number }) => seen.push(progress);
  const result = await session.client.callTool(request, { onprogress });
  expect(textOf(result)).toContain("live");
  expect(seen).toEqual([...seen].sort((one, other) => one - other));
  expect(seen.every((progress) => progress > 0 && progress <= 1)).toBe(true);
  expect(seen.length).toBeGreaterThan(0);
  const controller = new AbortController();
  const cancelled = session.client.callTool(request, { signal: controller.signal });
  controller.abort();
  await expect(cancelled).rejects.toThrow();
  await session.call("open_heaps", { dumps: ["after.dump"] });
  await session.close();
});
