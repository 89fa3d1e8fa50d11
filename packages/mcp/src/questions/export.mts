/** Files for other tools, in the folder that was allowed for them. */
import { createHash } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Heap } from "@warpo/heap-analyzer";
import { z } from "zod";
import { QuestionError } from "../../../../js/served/errors.ts";
import { formatSize } from "../lines.mts";
import { asking, before, heap, question, size } from "../question.mts";

type Format = "heapsnapshot" | "pprof" | "heap-diff" | "report";

let lastNumber = 0;

export const exportHeap = question({
  name: "export",
  title: "Export a file",
  description:
    "Write a file for another tool into the export folder: heapsnapshot (Chrome DevTools, memlab), pprof (pprof, speedscope), heap-diff (needs before), report (one HTML page; before is optional). No existing file is replaced. Only when the user asks for a file.",
  basis: "The file contains all live objects, or all changes.",
  input: {
    heap,
    before,
    format: z.enum(["heapsnapshot", "pprof", "heap-diff", "report"]),
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/)
      .describe("the name of the file: letters, digits, points, dashes"),
  },
  output: { file: z.string(), size, sha256: z.string() },
  isRepeatable: false,
  async ask({ heap: handle, before: earlier, format, name }, context) {
    const { exportFolder: folder, control } = context;
    if (folder === undefined) {
      throw new QuestionError(
        "ERR_NO_EXPORTS",
        "exports are not allowed: --export-folder allows them",
      );
    }
    return await asking(context, { heap: handle, before: earlier }, async (open, from) => {
      const { warnings, partial } = open;
      const written = await write(join(folder, name), control.signal, (signal) =>
        exported(open, from, format, signal),
      );
      return { body: { file: name, ...written }, warnings, partial };
    });
  },
  render({ file, size: bytes }) {
    return [`Wrote ${file}: ${formatSize(bytes)}, in the export folder.`];
  },
});

async function exported(
  heap: Heap,
  before: Heap | undefined,
  format: Format,
  signal: AbortSignal,
): Promise<Readable> {
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
