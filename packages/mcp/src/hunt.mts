/** What a client can read or insert before it asks: how to hunt a leak, and what the numbers mean. */
import { DATA_NOTE } from "./answers.mts";

export const INSTRUCTIONS = `Answers questions about heap dumps of WebAssembly programs (AssemblyScript, C, C++, Rust, Zig) and heap snapshots of V8.
1. list_dumps, if you do not know the paths. 2. open_heaps with all dumps of the hunt in one call; it returns a handle for each. 3. suspects with heap and before finds a leak; growth does for three or more dumps. 4. paths says why an object is alive and which reference to cut.
Sizes are in bytes. Retained size: what would be freed if the object went away. Every answer says whether its numbers are exact, what it warns of, and what was cut from it. ${DATA_NOTE}`;

export const NUMBERS = `# What the numbers mean

- Live: reachable from a global variable, the stack, or a pinned object. Garbage is not reachable; the collector has not freed it yet.
- Shallow size: the block of the object. Retained size: what would be freed if the object went away: its own block and those of all objects that it dominates.
- The retained size of a class counts each byte once.
- A path leads from a root to an object. There may be other paths; the independent references are those that must all be cut to free the object.
- A fingerprint names a path without indexes and keys, so it is the same in the next dump. If it is stable, it is the same in the next build.
- evidence.numbers is "exact", "estimated", or "may be wrong, see warnings".
- truncated lists what was cut to keep the answer short: ask for the next page, for less, or for one object.
- ${DATA_NOTE}
`;

export const HUNT = `# How to hunt a leak

1. Take a dump when the program is warm, repeat the work that leaks many times, take another. Call __collect() before each.
2. open_heaps with both dumps, the earlier one first.
3. suspects with heap (the later) and before (the earlier). Each suspect is a place that grew, with its path and what to cut.
4. paths with newSince, or with the address of the suspect: why the new objects are alive. If the stack holds them, they may be freed when the running functions return.
5. A cache that is still filling grows like a leak: take more dumps and ask growth with warmup.
6. Find the field of the path in the source, and the code that adds to it without ever removing.
7. Write the ticket: what leaks, how many bytes per round, the path, the reference to cut, the fingerprint.
`;

/** The prompt of a hunt from two dumps to a paragraph for a ticket. */
export function huntPrompt(before: string, after: string, wasm: string | undefined): string {
  const module = wasm === undefined ? "" : ` Their module is ${JSON.stringify(wasm)}.`;
  return `Find the memory leak between two heap dumps: ${JSON.stringify(before)}, taken first, and ${JSON.stringify(after)}.${module}

${HUNT}
End with one paragraph for a ticket. Quote only numbers that an answer gave you, name every warning that touches them, and say if the dumps do not show a leak. ${DATA_NOTE}`;
}
