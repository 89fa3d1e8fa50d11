// What would be left if the process ended now: an inspector that is open, and parts of files with the memory of the
// target. When the process exits, what can be undone at once is undone; a handler of signals can wait for the rest.

type Undo = () => void | Promise<void>;

const undoing = new Set<Undo>();

/**
 * Remembers how to undo what has begun, until the function that it returns is called.
 *
 * @param undo does not fail.
 */
export function unfinished(undo: Undo): () => void {
  if (undoing.size === 0) process.on("exit", undoUnfinished);
  const own = () => undo();
  undoing.add(own);
  return () => {
    undoing.delete(own);
    if (undoing.size === 0) process.off("exit", undoUnfinished);
  };
}

/** Undoes everything that has begun and has not ended. */
export async function undoUnfinished(): Promise<void> {
  process.off("exit", undoUnfinished);
  const begun = [...undoing].map((undo) => undo());
  undoing.clear();
  await Promise.all(begun);
}
