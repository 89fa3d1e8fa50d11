/** Dumps of running programs, if an option of the server allows them. */
import { QuestionError } from "../../../../js/served/errors.ts";
import { formatCount, formatSize } from "../lines.mts";
import { question } from "../question.mts";
import * as s from "../schema.mts";

const instance = s.object({
  thread: s.text(),
  realm: s.text(),
  module: s.text(),
  memorySize: s.size,
});

export const attachQuestion = question({
  name: "attach",
  title: "Take a dump of a running program",
  description:
    "What is in the memory of the running program now? Takes a dump of it and opens it: the handle is for all other tools. The program stands still meanwhile. A dump contains the program's memory, including its secrets. With list, only lists its WebAssembly instances.",
  basis: "The dump is taken between two turns of the program, if it rests within 5 s.",
  input: {
    target: s.optional(s.path, "needed if several are allowed"),
    list: s.usually(s.flag, false, "take no dump"),
    instance: s.optional(s.whole(0, 10_000), "its number in the list, from 0"),
    host: s.usually(
      s.flag,
      false,
      "also write a heap snapshot of V8 of the same moment and the numbers that it does not show, for open_heaps",
    ),
  },
  output: {
    instances: s.described(s.list(instance), "only with list"),
    dump: s.nullable(
      s.object({
        heap: s.described(s.text(), "the handle for other tools"),
        path: s.text(),
        wasm: s.text(),
        heapsnapshot: s.nullable(s.text()),
        numbers: s.described(s.nullable(s.text()), "numbers that the heap snapshot does not show"),
        totalLiveSize: s.size,
        liveObjects: s.count,
      }),
    ),
    notes: s.described(
      s.list(s.text()),
      "what may be wrong with the dump, or why there is no instance",
    ),
  },
  isRepeatable: false,
  async ask({ target, list, instance: nth, host }, { targets, roots, heaps, control }) {
    if (targets === undefined) {
      throw new QuestionError("ERR_NOT_ALLOWED", "dumps are not allowed: --attach allows them");
    }
    if (list) {
      const found = await targets.instances(target, control.signal);
      // In quotes, texts of the program are marked as data.
      const instances = found.instances.map(({ thread, realm, module, memorySize }) => ({
        thread: JSON.stringify(thread),
        realm: JSON.stringify(realm),
        module: JSON.stringify(module),
        memorySize,
      }));
      const notes = found.whyNone === undefined ? [] : [JSON.stringify(found.whyNone)];
      const body = { instances, dump: null, notes };
      return { body, warnings: [], partial: false, isWithoutHeap: true };
    }
    const taken = await targets.take(target, nth, host, control.signal);
    const dump = await roots.file("dump", taken.dump);
    const wasm = await roots.file("module", taken.wasm);
    const snapshot = taken.host === undefined ? null : await roots.file("snapshot", taken.host);
    const numbers =
      taken.numbers === undefined ? null : await roots.file("file of numbers", taken.numbers);
    return await heaps.open({ dump, wasm, partial: false }, control, async ({ heap }, handle) => {
      const { totalLiveSize, objects } = heap.summary();
      const opened = {
        heap: handle,
        path: dump.shown,
        wasm: wasm.shown,
        heapsnapshot: snapshot?.shown ?? null,
        numbers: numbers?.shown ?? null,
        totalLiveSize,
        liveObjects: objects.live,
      };
      const body = { instances: [], dump: opened, notes: taken.warnings };
      return { body, warnings: heap.warnings, partial: heap.partial };
    });
  },
  render({ instances, dump, notes }) {
    const lines = instances.map(
      ({ thread, realm, module, memorySize }, nth) =>
        `${nth}  ${formatSize(memorySize)}  ${thread}  ${realm}  ${module}`,
    );
    if (dump === null) {
      return lines.length === 0 ? notes : lines;
    }
    return [
      `${dump.path}: live ${formatSize(dump.totalLiveSize)} in ${formatCount(dump.liveObjects)} objects. It contains the program's memory, including its secrets.`,
      ...(dump.heapsnapshot === null ? [] : [`heap snapshot: ${dump.heapsnapshot}`]),
      ...(dump.numbers === null ? [] : [`numbers: ${dump.numbers}`]),
      `heap: ${dump.heap}`,
      ...notes.map((note) => `Note: ${note}`),
    ];
  },
});
