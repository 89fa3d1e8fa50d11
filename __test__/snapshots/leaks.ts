/** The leaks that `leaks.cjs` and `leaks_page.js` have, by what the text of a suspect says of their place. */
export const LEAKS: Record<"server" | "page", Record<string, RegExp>> = {
  server: {
    "a cache of the global object": /Object\.cache > Object\.items/,
    "a Map of the module": /->visits/,
    "a variable of a function": /->auditLines/,
    "listeners of an emitter": /EventEmitter\._events|->heard/,
    "timers that are not cleared": /->polled|TimersList|Timeout/,
  },
  page: {
    "a cache of the window": /Object\.cache > Object\.items/,
    "a Map of a function": /->visits/,
    "elements outside of the document": /->removedRows/,
    "listeners of the window": /EventTargetData/,
    "timers that are not cleared": /DOMTimer/,
  },
};

/** The variables of what both programs keep on purpose, with a bound. */
export const BOUNDED = ["ring", "recent", "notes"];

/** Parts of the root, which are no objects of a program. */
export const PARTS =
  /\((GC roots|Global handles|Strong roots|Strong root list|Traced handles|Stack roots|Handle scope|Eternal handles|Document DOM trees)\)|C\+\+ (Persistent )?roots/;
