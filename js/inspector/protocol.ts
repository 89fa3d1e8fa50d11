// The part of the protocol of Chrome DevTools that is used: what each method answers, and what each event has.

import type { MessageBounds } from "./bounded_json.js";
import { anything, beginning, listOf, optional, record, type Shape, text, whole } from "./shape.js";

const MIB = 1024 * 1024;

/** What any message may have. One may name a source map that is as large as the program. */
const ORDINARY: MessageBounds = { bytes: 64 * MIB, nodes: 20_000, depth: 50 };
/** A list of what the program has: of objects, of frames. */
const LIST: MessageBounds = { bytes: 64 * MIB, nodes: 1_000_000, depth: 50 };
/** One text: a module in base64. */
const MODULE: MessageBounds = { bytes: 256 * MIB, nodes: 100, depth: 10 };

/** The most bytes of any message. */
export const MOST_BYTES = MODULE.bytes;

/** What a message may have when several are awaited. */
export function together(all: Iterable<MessageBounds>): MessageBounds {
  const most = { ...ORDINARY };
  for (const { bytes, nodes, depth } of all) {
    most.bytes = Math.max(most.bytes, bytes);
    most.nodes = Math.max(most.nodes, nodes);
    most.depth = Math.max(most.depth, depth);
  }
  return most;
}

/** The name of an object, a script or a session. */
const id = text(200);
const name = beginning(300);
const words = beginning(1000);
const nothing: Shape<undefined> = () => undefined;

const remoteObject = record({
  type: optional(name),
  subtype: optional(name),
  objectId: optional(id),
  value: optional(anything),
  description: optional(words),
});
const evaluated = record({
  result: remoteObject,
  exceptionDetails: optional(
    record({
      text: optional(words),
      exception: optional(record({ description: optional(words) })),
    }),
  ),
});
const property = record({ name: words, value: optional(remoteObject) });
const properties = optional(listOf(property, 100_000));
const frame = record({
  functionName: words,
  location: record({ scriptId: id, columnNumber: optional(whole(2 ** 32)) }),
  scopeChain: listOf(record({ type: name, object: record({ objectId: optional(id) }) }), 100),
});

function method<T>(shape: Shape<T>, bounds = ORDINARY) {
  return { shape, bounds };
}

/** What each method answers. */
export const METHODS = {
  "Debugger.disable": method(nothing),
  "Debugger.enable": method(nothing),
  "Debugger.getScriptSource": method(record({ bytecode: optional(text(MODULE.bytes)) }), MODULE),
  "Debugger.pause": method(nothing),
  "Debugger.resume": method(nothing),
  "HeapProfiler.getHeapObjectId": method(record({ heapSnapshotObjectId: text(20) })),
  "HeapProfiler.takeHeapSnapshot": method(nothing),
  "NodeRuntime.disable": method(nothing),
  "NodeWorker.enable": method(nothing),
  "NodeWorker.sendMessageToWorker": method(nothing),
  "Runtime.callFunctionOn": method(evaluated, LIST),
  "Runtime.enable": method(nothing),
  "Runtime.evaluate": method(evaluated),
  "Runtime.getHeapUsage": method(nothing),
  "Runtime.getProperties": method(
    record({ result: properties, internalProperties: properties }),
    LIST,
  ),
  "Runtime.queryObjects": method(record({ objects: record({ objectId: id }) })),
  "Runtime.releaseObject": method(nothing),
  "Runtime.releaseObjectGroup": method(nothing),
  "Target.setAutoAttach": method(nothing),
};

/** What each event has. */
export const EVENTS = {
  "Debugger.paused": method(record({ callFrames: listOf(frame, 20_000) }), LIST),
  "Debugger.scriptParsed": method(
    record({ scriptId: id, url: name, scriptLanguage: optional(name) }),
  ),
  "HeapProfiler.addHeapSnapshotChunk": method(record({ chunk: text(64 * MIB) })),
  "NodeWorker.attachedToWorker": method(
    record({ sessionId: id, workerInfo: optional(record({ title: optional(name) })) }),
  ),
  "NodeWorker.receivedMessageFromWorker": method(
    record({ sessionId: id, message: text(MODULE.bytes) }),
  ),
  "Runtime.executionContextCreated": method(
    record({
      context: record({
        id: whole(2 ** 31),
        name: optional(name),
        origin: optional(name),
        auxData: optional(record({ isDefault: optional(anything) })),
      }),
    }),
  ),
  "Target.attachedToTarget": method(
    record({
      sessionId: id,
      targetInfo: optional(record({ url: optional(name), type: optional(name) })),
    }),
  ),
};

export type InspectorMethod = keyof typeof METHODS;
export type Event = keyof typeof EVENTS;
/** The answer to a method. */
export type InspectorAnswer<M extends InspectorMethod> = ReturnType<(typeof METHODS)[M]["shape"]>;
/** The parameters of an event. */
export type Happened<E extends Event> = ReturnType<(typeof EVENTS)[E]["shape"]>;
/** A description of an object of the target. */
export type RemoteObject = ReturnType<typeof remoteObject>;
/** A function on the stack. */
export type InspectorFrame = ReturnType<typeof frame>;
