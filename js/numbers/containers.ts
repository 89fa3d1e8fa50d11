// Reads the numbers that a heap snapshot does not show: those in arrays, maps, sets, `Number` objects and typed arrays.

import { answerError, at, count, list, text, type UncheckedAnswer } from "../inspector/answer.js";
import { ask, CONVERSATION_GROUP, type Conversation, callOn } from "./conversation.js";
import { READ_CONTAINERS, READ_COUNTS, READ_OBJECTS, READ_ROWS } from "./remote_code.js";
import { type AddressRange, ALIGNMENT, type NumberHolder, type NumberSlot } from "./types.js";

const MAX_ELEMENTS = 1_000_000;
/** In one realm. */
const MAX_OBJECTS = 200_000;
const MAX_SLOTS = 4_000_000;
/** How many properties are looked at for typed arrays, where these are not listed. */
const MAX_PROPERTIES = 5_000_000;
/** Of one answer. */
const MAX_ROWS_AT_ONCE = 2000;
const SLOTS_AT_ONCE = 200_000;
const MAX_COUNT = 2 ** 32;
const MAX_NAME = 1000;
const STEPS = [2, 3, 4, 5, 6, 7, 8];

/** What the containers of a realm have. */
export interface ContainersRead {
  holders: NumberHolder[];
  containers: number;
  cutContainers: number;
  unknownObjects: number;
  /** Whether the realm does not list typed arrays, or has none. */
  hidesTypedArrays: boolean;
}

/**
 * Reads all containers of a realm.
 *
 * @param objects the list of all objects of the realm, as `Runtime.queryObjects` gave it.
 */
export function* readContainers(
  objects: string,
  { lo, hi }: AddressRange,
): Conversation<ContainersRead> {
  const limits = [MAX_ELEMENTS, MAX_OBJECTS, MAX_SLOTS, MAX_PROPERTIES];
  const result = yield* callOn(objects, READ_CONTAINERS, [lo, hi, ALIGNMENT, ...limits]);
  const found = text(result, "objectId", "the numbers");
  const counts = yield* callOn(found, READ_COUNTS, [], true);
  const size = count(counts, "objects", "the numbers", MAX_OBJECTS);
  const holders: NumberHolder[] = [];
  let unknownObjects = 0;
  for (let from = 0; from < size; ) {
    const answer = yield* callOn(found, READ_ROWS, [from, MAX_ROWS_AT_ONCE, SLOTS_AT_ONCE], true);
    const rows = list({ answer }, "answer", "the numbers", MAX_ROWS_AT_ONCE);
    if (rows.length === 0) throw answerError("the numbers", `end after ${from} of ${size} objects`);
    const ids = yield* snapshotIds(found, from, from + rows.length);
    for (const [nth, row] of rows.entries()) {
      const id = ids[nth];
      if (id === undefined) unknownObjects++;
      else holders.push(checkedRow(id, row, { lo, hi }));
    }
    from += rows.length;
  }
  return {
    holders,
    containers: count(counts, "containers", "the numbers", MAX_COUNT),
    cutContainers: count(counts, "cut", "the numbers", MAX_COUNT),
    unknownObjects,
    hidesTypedArrays: at(counts, "hidden") !== false,
  };
}

/** The ids of objects in the heap snapshot. Undefined for an object that is not in it. */
export function* snapshotIds(
  found: string,
  from: number,
  to: number,
): Conversation<(number | undefined)[]> {
  const objectIds = yield* objectsOf(found, from, to);
  const answers = yield objectIds.map((objectId) => ({
    method: "HeapProfiler.getHeapObjectId" as const,
    parameters: { objectId },
  }));
  return answers.map((answer) => {
    const id = Number(text(answer, "heapSnapshotObjectId", "HeapProfiler.getHeapObjectId"));
    if (!Number.isSafeInteger(id) || id < 0) {
      throw answerError("HeapProfiler.getHeapObjectId", "answered a text that is no id");
    }
    return id === 0 ? undefined : id;
  });
}

/** Some of the objects that a function of `remote_code.ts` found, by their ids in the session. */
export function* objectsOf(found: string, from: number, to: number): Conversation<string[]> {
  const slice = yield* callOn(found, READ_OBJECTS, [from, to]);
  const objectId = text(slice, "objectId", "the list of objects");
  const answer = yield* ask("Runtime.getProperties", { objectId, ownProperties: true });
  // Besides its elements, an array has its length.
  const properties = list(answer, "result", "Runtime.getProperties", to - from + 10);
  const ids: string[] = [];
  for (const property of properties) {
    const index = Number(at(property, "name"));
    if (!Number.isInteger(index) || index < 0 || index >= to - from) continue;
    ids[index] = text(property, "value.objectId", "Runtime.getProperties");
  }
  for (let nth = 0; nth < to - from; nth++) {
    if (ids[nth] === undefined) {
      throw answerError("Runtime.getProperties", `has no object ${nth} of ${to - from}`);
    }
  }
  return ids;
}

function checkedRow(id: number, row: UncheckedAnswer, range: AddressRange): NumberHolder {
  const kind = text(row, "kind", "the numbers").slice(0, MAX_NAME);
  const slots = list(row, "slots", "the numbers", MAX_SLOTS).map((slot) =>
    checkedSlot(slot, range),
  );
  const other: Record<string, number> = {};
  for (const [name, number] of Object.entries(at(row, "other") ?? {}).slice(0, MAX_KINDS)) {
    other[name.slice(0, MAX_NAME)] = count({ number }, "number", "the numbers", MAX_COUNT);
  }
  const steps = at(row, "steps");
  if (steps === undefined) return { id, kind, slots, other };
  const counts = STEPS.map((step, nth) =>
    list(steps, `${nth}`, "the numbers", step).map((number) =>
      count({ number }, "number", "the numbers", MAX_COUNT),
    ),
  );
  return { id, kind, slots, other, steps: counts };
}

/** Kinds of slots of one object. */
const MAX_KINDS = 10;

function checkedSlot(slot: UncheckedAnswer, { lo, hi }: AddressRange): NumberSlot {
  const [name, number, key] = list({ slot }, "slot", "the numbers", 3);
  const address = count({ number }, "number", "the numbers", hi - 1);
  if (address < lo) throw answerError("the numbers", `have ${address}, which is below ${lo}`);
  const shown =
    typeof name === "number"
      ? count({ name }, "name", "the numbers", MAX_COUNT)
      : text({ name }, "name", "the numbers").slice(0, MAX_NAME);
  return key === undefined
    ? [shown, address]
    : [shown, address, text({ key }, "key", "the numbers").slice(0, MAX_NAME)];
}

/** The list of all objects of a realm, the prototypes of its classes among them. Collects garbage first. */
export function* objectsOfRealm(contextId: number): Conversation<string | undefined> {
  const prototype = yield* ask("Runtime.evaluate", {
    expression: "Object.prototype",
    contextId,
    objectGroup: CONVERSATION_GROUP,
  });
  const prototypeObjectId = at(prototype, "result.objectId");
  // The realm is gone.
  if (typeof prototypeObjectId !== "string") return undefined;
  const query = yield* ask("Runtime.queryObjects", {
    prototypeObjectId,
    objectGroup: CONVERSATION_GROUP,
  });
  return text(query, "objects.objectId", "Runtime.queryObjects");
}
