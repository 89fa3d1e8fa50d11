/** Files for other tools, in the folder that was allowed for them. */
import { createHash } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Heap } from "@warpo/heap-analyzer";
import { QuestionError } from "../../../../js/served/errors.ts";
import type { OpenHeap } from "../heaps.mts";
import { formatSize } from "../lines.mts";
import { type QuestionContext, question } from "../question.mts";
import * as s from "../schema.mts";

const FORMATS = ["heapsnapshot", "pprof", "heap-diff", "report", "parquet"] as const;
const TABLES = ["dump", "class", "path", "suspect", "waste", "object", "edge"] as const;

interface WantedExport {
  format: (typeof FORMATS)[number];
  before: Heap | undefined;
  /** Of the format parquet. */
  table?: (typeof TABLES)[number] | undefined;
  capturedAt?: string | undefined;
}

let lastNumber = 0;

export const exportHeap = question({
  name: "export",
  title: "Export a file",
  description:
    "Writes a file for another tool: heapsnapshot (DevTools, memlab), pprof, heap-diff (needs before), report (a page), parquet (needs table). Replaces no file. Only when the user asks for a file.",
  basis: "The file contains all live objects, or all changes.",
  input: {
    heap: s.heap,
    before: s.before,
    format: s.choice(...FORMATS),
    table: s.optional(
      s.choice(...TABLES),
      "of parquet: object and edge have a row for each object and each reference",
    ),
    capturedAt: s.optional(
      s.text(undefined, { format: "date-time" }),
      "of parquet: when the dump was taken (default: the time of its file)",
    ),
    name: s.described(
      s.text(undefined, { pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$" }),
      "the name of the file: letters, digits, points, dashes",
    ),
  },
  output: { file: s.text(), size: s.size, sha256: s.text() },
  isRepeatable: false,
  async ask({ heap: handle, before: earlier, name, ...wanted }, context) {
    const { exportFolder: folder, control } = context;
    if (folder === undefined) {
      throw new QuestionError(
        "ERR_NO_EXPORTS",
        "exports are not allowed: --export-folder allows them",
      );
    }
    const handles = earlier === undefined ? [handle] : [earlier, handle];
    return await context.heaps.use(handles, control, async (heaps) => {
      const open = heaps.at(-1) as OpenHeap;
      const before = earlier === undefined ? undefined : heaps[0]?.heap;
      const { warnings, partial } = open.heap;
      const written = await write(join(folder, name), control.signal, (signal) =>
        exported(open, { ...wanted, before }, context, signal),
      );
      return { body: { file: name, ...written }, warnings, partial };
    });
  },
  render({ file, size: bytes }) {
    return [`Wrote ${file}: ${formatSize(bytes)}, in the export folder.`];
  },
});

async function exported(
  open: OpenHeap,
  { format, before, table, capturedAt }: WantedExport,
  context: QuestionContext,
  signal: AbortSignal,
): Promise<Readable> {
  const { heap, source } = open;
  if (format !== "parquet" && (table ?? capturedAt) !== undefined) {
    throw new QuestionError(
      "ERR_INVALID_OPTION",
      `table and capturedAt are for the format parquet: found ${format}`,
    );
  }
  if (format === "report") return Readable.from([await heap.reportAsync({ before, signal })]);
  if (format === "heap-diff") {
    if (before === undefined) {
      throw new QuestionError("ERR_INVALID_OPTION", "the format heap-diff needs before");
    }
    return heap.export(format, { before, signal });
  }
  if (before !== undefined) {
    throw new QuestionError("ERR_INVALID_OPTION", `the format ${format} takes no before`);
  }
  if (format === "parquet") {
    if (table === undefined) {
      throw new QuestionError("ERR_INVALID_OPTION", "the format parquet needs table");
    }
    const { dump, module } = await context.heaps.hashes(source, signal);
    return heap.export(format, {
      table,
      dumpId: dump,
      moduleId: module,
      capturedAt: new Date(capturedAt ?? source.dump.modified),
      dumpSize: source.dump.size,
      source: source.dump.shown,
      signal,
    });
  }
  return format === "pprof"
    ? heap.export("pprof", { signal })
    : heap.export("heapsnapshot", { signal });
}

/** Writes a file that appears when it is complete, and replaces none. */
async function write(
  path: string,
  signal: AbortSignal,
  contents: (signal: AbortSignal) => Promise<Readable>,
): Promise<{ size: number; sha256: string }> {
  const temporary = `${path}.${process.pid}.${++lastNumber}.partial`;
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(temporary, "wx", 0o600);
  try {
    async function* counted(source: AsyncIterable<Buffer | string>) {
      for await (const piece of source) {
        hash.update(piece);
        bytes += Buffer.byteLength(piece);
        yield piece;
      }
    }
    await pipeline(await contents(signal), counted, file.createWriteStream(), { signal });
    // Unlike a rename, it fails if there is such a file.
    await link(temporary, path).catch((error) => {
      throw error.code === "EEXIST"
        ? new QuestionError(
            "ERR_FILE_EXISTS",
            "the export folder has a file of this name: choose another",
          )
        : error;
    });
  } finally {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
  }
  return { size: bytes, sha256: hash.digest("hex") };
}
