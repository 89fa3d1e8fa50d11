// Reads the numbers of a thread.

import { readClosures } from "./closures.js";
import { objectsOfRealm, readContainers } from "./containers.js";
import { ask, CONVERSATION_GROUP, type Conversation } from "./conversation.js";
import type { AddressRange, HostNumbers, NumberHolder } from "./types.js";

/** What to read beside containers. */
export interface WhatToRead {
  /** Also the variables of functions whose scripts belong to the program. */
  isOfProgram?: ((scriptId: string) => boolean) | undefined;
}

/**
 * Reads the numbers of all realms. A heap snapshot must have been taken before: only objects that are in it have ids.
 *
 * @param realms the ids of the thread's global objects, its own first: what is read of it becomes objects of it.
 */
export function* readNumbers(
  realms: readonly number[],
  range: AddressRange,
  { isOfProgram }: WhatToRead = {},
): Conversation<HostNumbers> {
  const objects: NumberHolder[] = [];
  const read: HostNumbers["read"] = { containers: 0, cutContainers: 0, unknownObjects: 0 };
  let hidesTypedArrays = true;
  for (const realm of realms) {
    const all = yield* objectsOfRealm(realm);
    if (all === undefined) continue;
    const found = yield* readContainers(all, range);
    for (const holder of found.holders) objects.push(holder);
    read.containers += found.containers;
    read.cutContainers += found.cutContainers;
    read.unknownObjects += found.unknownObjects;
    hidesTypedArrays &&= found.hidesTypedArrays;
    if (isOfProgram !== undefined) {
      const { holders, ...counts } = yield* readClosures(all, range, isOfProgram);
      for (const holder of holders) objects.push(holder);
      read.functions = (read.functions ?? 0) + counts.functions;
      read.cutFunctions = (read.cutFunctions ?? 0) + counts.cutFunctions;
      read.unknownObjects += counts.unknownObjects;
    }
    yield* ask("Runtime.releaseObjectGroup", { objectGroup: CONVERSATION_GROUP });
  }
  if (hidesTypedArrays) read.hiddenTypedArrays = true;
  return { ...range, read, objects };
}
