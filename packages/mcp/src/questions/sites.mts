/** Which lines of source allocated what is alive. */
import { QuestionError } from "../../../../js/served/errors.ts";
import { SITES, sites as sitesOf } from "../../../../js/served/questions/places.ts";
import { formatCount, formatSize } from "../lines.mts";
import { asking, question, watched } from "../question.mts";
import { type Roots, readFrom } from "../roots.mts";
import * as s from "../schema.mts";

/** Bytes of a profile. Those of long runs have some MiB. */
const MOST_BYTES = 256 * 2 ** 20;

export const sites = question({
  name: "sites",
  title: "Allocating lines",
  description:
    "Which lines of source allocated what is alive? For a dump with the heap profile of its moment, or a snapshot that V8 wrote while it tracked allocations. With before (and its profile), which lines have more live objects now.",
  basis: "Numbers of a sampled profile are estimates; sizeError is their standard error.",
  input: {
    heap: s.heap,
    profile: s.optional(s.path, "of a dump: the path of its profile (heap.pb.gz)"),
    before: s.before,
    beforeProfile: s.optional(s.path, "the profile of before"),
    ...s.page,
  },
  output: SITES,
  isPaged: true,
  isRepeatable: false,
  async ask(args, context) {
    const { heap: handle, before: earlier, limit, offset } = args;
    const { roots, control } = context;
    const [after, first] = await Promise.all(
      [args.profile, args.beforeProfile].map((path) => contents(roots, path, control.signal)),
    );
    if (earlier === undefined && first !== undefined) {
      throw new QuestionError("ERR_INVALID_OPTION", "beforeProfile needs before");
    }
    return await asking(context, { heap: handle, before: earlier }, async (open, from) => {
      const before = from === undefined ? undefined : { heap: from, profile: first };
      const moment = { heap: open, profile: after };
      return await sitesOf(moment, before, { limit, offset }, watched(context));
    });
  },
  render({ totalLiveSize, sites: lines }) {
    return [
      `Live: ${formatSize(totalLiveSize)}.`,
      ...(lines.length === 0 ? ["No line allocated what is alive."] : []),
      ...lines.map((one) => {
        const change =
          one.sizeChange === undefined ? "" : `, change ${formatCount(one.sizeChange)} bytes`;
        return `${one.function} ${one.file}:${one.line}: ${formatCount(one.count)}, ${formatSize(one.size)}${change}`;
      }),
    ];
  },
});

/** The bytes of a profile below the roots. */
async function contents(
  roots: Roots,
  path: string | undefined,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  const file = await roots.file("profile", path);
  if (file.size > MOST_BYTES) {
    throw new QuestionError(
      "ERR_TOO_LARGE",
      `the profile ${file.shown} has ${formatSize(file.size)}: expected at most ${formatSize(MOST_BYTES)}`,
    );
  }
  return await roots.use(file, async (descriptor) => {
    const bytes = Buffer.alloc(file.size);
    let read = 0;
    while (read < bytes.length) {
      signal.throwIfAborted();
      const { bytesRead } = await readFrom(descriptor, bytes, read, bytes.length - read, read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.subarray(0, read);
  });
}
