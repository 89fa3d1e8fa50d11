// Reads the variables of functions. A heap snapshot shows those of functions and modules, and none of a block, such as a
// `let` in a loop.

import { at, count, list, text, type UncheckedAnswer } from "../inspector/answer.js";
import { objectsOf, snapshotIds } from "./containers.js";
import { type Conversation, callOn } from "./conversation.js";
import { COUNT_FUNCTIONS, FIND_FUNCTIONS } from "./remote_code.js";
import { type AddressRange, ALIGNMENT, type NumberHolder, type NumberSlot } from "./types.js";

const MAX_FUNCTIONS = 100_000;
/** Of one answer. */
const FUNCTIONS_AT_ONCE = 500;
const MAX_SCOPES = 1000;
const MAX_VARIABLES = 100_000;
const MAX_NAME = 1000;

/** Scopes that V8 allocates for a program. The global object is an object like any other. */
const OWN_SCOPE = /^(Closure|Block|Local|Module|Catch|With|Script|Eval)\b/;

/** What the functions of a realm have. */
export interface ClosuresRead {
  holders: NumberHolder[];
  functions: number;
  cutFunctions: number;
  unknownObjects: number;
}

/**
 * Reads the variables of all functions of a realm.
 *
 * @param objects the list of all objects of the realm.
 * @param isOfProgram whether a script belongs to the program, and not to Node.
 */
export function* readClosures(
  objects: string,
  range: AddressRange,
  isOfProgram: (scriptId: string) => boolean,
): Conversation<ClosuresRead> {
  const result = yield* callOn(objects, FIND_FUNCTIONS, [MAX_FUNCTIONS]);
  const found = text(result, "objectId", "the functions");
  const counts = yield* callOn(found, COUNT_FUNCTIONS, [], true);
  const size = count(counts, "functions", "the functions", MAX_FUNCTIONS);
  const read: ClosuresRead = {
    holders: [],
    functions: 0,
    cutFunctions: count(counts, "more", "the functions", 2 ** 32),
    unknownObjects: 0,
  };
  for (let from = 0; from < size; from += FUNCTIONS_AT_ONCE) {
    const to = Math.min(from + FUNCTIONS_AT_ONCE, size);
    yield* readSome(found, from, to, range, isOfProgram, read);
  }
  return read;
}

function* readSome(
  found: string,
  from: number,
  to: number,
  range: AddressRange,
  isOfProgram: (scriptId: string) => boolean,
  read: ClosuresRead,
): Conversation<void> {
  const descriptions = yield* propertiesOf(yield* objectsOf(found, from, to));
  const scopesOf: { nth: number; objectId: string }[] = [];
  for (const [nth, description] of descriptions.entries()) {
    const internal = list(
      { properties: at(description, "internalProperties") ?? [] },
      "properties",
      "Runtime.getProperties",
      MAX_SCOPES,
    );
    const value = (name: string) =>
      at(
        internal.find((property) => at(property, "name") === name),
        "value",
      );
    const script = String(at(value("[[FunctionLocation]]"), "value.scriptId"));
    const objectId = at(value("[[Scopes]]"), "objectId");
    if (typeof objectId === "string" && isOfProgram(script)) scopesOf.push({ nth, objectId });
  }
  read.functions += scopesOf.length;
  const holders = yield* candidatesOf(scopesOf, range);
  if (holders.length === 0) return;
  const ids = yield* snapshotIds(found, from, to);
  for (const { nth, ...holder } of holders) {
    const id = ids[nth];
    if (id === undefined) read.unknownObjects++;
    else read.holders.push({ id, ...holder });
  }
}

/** The scopes with candidates, and whose they are. */
function* candidatesOf(
  scopesOf: { nth: number; objectId: string }[],
  range: AddressRange,
): Conversation<(Omit<NumberHolder, "id"> & { nth: number })[]> {
  const scopes: { nth: number; scope: number; objectId: string }[] = [];
  const lists = yield* propertiesOf(scopesOf.map(({ objectId }) => objectId));
  for (const [position, { nth }] of scopesOf.entries()) {
    for (const entry of list(lists[position], "result", "Runtime.getProperties", MAX_SCOPES)) {
      const scope = Number(at(entry, "name"));
      const objectId = at(entry, "value.objectId");
      if (!Number.isInteger(scope) || typeof objectId !== "string") continue;
      if (OWN_SCOPE.test(String(at(entry, "value.description")))) {
        scopes.push({ nth, scope, objectId });
      }
    }
  }
  const variables = yield* propertiesOf(scopes.map(({ objectId }) => objectId));
  return scopes.flatMap(({ nth, scope }, position) => {
    const { slots, other } = sorted(variables[position], range);
    return slots.length === 0 ? [] : [{ nth, kind: "Closure", scope, slots, other }];
  });
}

/** The variables of a scope that may be addresses, and those with other numbers. */
function sorted(scope: UncheckedAnswer, { lo, hi }: AddressRange) {
  const slots: NumberSlot[] = [];
  const other: Record<string, number> = Object.create(null);
  for (const variable of list(scope, "result", "Runtime.getProperties", MAX_VARIABLES)) {
    const value = at(variable, "value.value");
    if (typeof value !== "number" || value === 0 || value === -1) continue;
    const number = value < 0 && (value | 0) === value ? value + 2 ** 32 : value;
    const name = String(at(variable, "name")).slice(0, MAX_NAME);
    if (number >= lo && number < hi && number % ALIGNMENT === 0) slots.push([name, number]);
    else other[name] = 1;
  }
  return { slots, other };
}

/** The properties of several objects. */
function* propertiesOf(objectIds: string[]): Conversation<UncheckedAnswer[]> {
  const answers: UncheckedAnswer[] = [];
  for (let from = 0; from < objectIds.length; from += FUNCTIONS_AT_ONCE) {
    const some = objectIds.slice(from, from + FUNCTIONS_AT_ONCE);
    const answered = yield some.map((objectId) => ({
      method: "Runtime.getProperties" as const,
      parameters: { objectId, ownProperties: true },
    }));
    answers.push(...answered);
  }
  return answers;
}
