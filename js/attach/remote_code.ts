// The code that runs in the target. It is constant: values travel as arguments, never as text in the code. It
// reads and copies, and changes nothing of the program.

/** On `[[Globals]]`: the values of i32 globals by index; null for a value that is no number. */
const READ_VALUES = `
  const start = Date.now();
  const values = indexes.map((index) => {
    const value = this[index] === undefined ? undefined : this[index].value;
    return typeof value === "number" ? value >>> 0 : null;
  });
  const buffer = memories[0].buffer;`;

/** How many functions of the program are on the stack, below the one that asks. */
const COUNT_FRAMES = 'String(new Error().stack).split("\\n    at ").length - 2';

/** Takes the dump at once, or in a turn of its own. */
const AT_ONCE = `const suspends = typeof WebAssembly !== "object" || "Suspending" in WebAssembly;
  const takeNow = (seen) => {
    const taken = take();
    return taken && Object.assign(taken, seen);
  };
  if (!schedule) return takeNow({ suspends, frames: ${COUNT_FRAMES} });
  return new Promise((resolve, reject) => {
    schedule(() => { try { resolve(takeNow({ suspends })); } catch (error) { reject(error); } }, 0);
  });`;

/**
 * On `[[Globals]]`: reads the globals and writes the memory to a file that is there, in one turn. Null if the other
 * attempt takes the dump, or has taken it.
 *
 * With `schedule`, the turn begins on an empty stack. \`state\` decides which of two attempts reads: a program
 * that never rests gets a second call without \`schedule\`.
 */
export const WRITE_FILE = `function (memories, indexes, state, schedule, fs, path, offset) {
  const take = () => {
    if (state.taken) return null;
    state.taken = true;
    let file;
    try {
      file = fs.openSync(path, fs.constants.O_WRONLY | (fs.constants.O_NOFOLLOW || 0));
    } catch {
      return { unwritable: true };
    }
    try {${READ_VALUES}
      const bytes = new Uint8Array(buffer);
      for (let done = 0; done < bytes.length; ) {
        done += fs.writeSync(file, bytes, done, Math.min(67108864, bytes.length - done), offset + done);
      }
      return { values, size: bytes.length, time: Date.now() - start };
    } finally {
      fs.closeSync(file);
    }
  };
  ${AT_ONCE}
}`;

/** The same, but keeps a copy of the pages that are not zero, for {@link READ_PAGES}. */
export const COPY_PAGES = `function (memories, indexes, state, schedule) {
  const take = () => {
    if (state.taken) return null;
    state.taken = true;${READ_VALUES}
    const words = new BigUint64Array(buffer);
    const numbers = [];
    const pages = [];
    for (let at = 0; at < words.length; at += 8192) {
      let word = at;
      while (word < at + 8192 && words[word] === 0n) word++;
      if (word === at + 8192) continue;
      numbers.push(at / 8192);
      pages.push(new Uint8Array(buffer, at * 8, 65536).slice());
    }
    return { values, size: buffer.byteLength, numbers, pages, time: Date.now() - start };
  };
  ${AT_ONCE}
}`;

/** On the result of {@link COPY_PAGES}: everything but the pages. */
export const READ_COPY =
  "function () { return { values: this.values, size: this.size, numbers: this.numbers, frames: this.frames, suspends: this.suspends, time: this.time }; }";

/** On the result of {@link COPY_PAGES}: some pages in base64. A context of `node:vm` has no function for that. */
export const READ_PAGES = `function (from, to) {
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return this.pages.slice(from, to).map((page) => {
    if (page.toBase64) return page.toBase64();
    if (typeof Buffer === "function") return Buffer.from(page.buffer).toString("base64");
    let text = "";
    for (let at = 0; at < page.length; at += 3) {
      const word = (page[at] << 16) | (page[at + 1] << 8) | page[at + 2];
      for (const shift of [18, 12, 6, 0]) text += DIGITS[(word >> shift) & 63];
    }
    // A page has one byte more than a multiple of three.
    return text.slice(0, -2) + "==";
  });
}`;

/** On `[[Memories]]`: how many there are, and the size of the first in bytes. */
export const MEMORY_SIZE = `function () {
  let count = 0;
  while (this[count] !== undefined) count++;
  return { count, size: count > 0 ? this[0].buffer.byteLength : 0, shared: count > 0 && Object.prototype.toString.call(this[0].buffer) === "[object SharedArrayBuffer]" };
}`;

/** On a list: an entry, as an object. */
export const ENTRY = "function (index) { return this[index]; }";

/** On the objects that \`Runtime.queryObjects\` found: how many there are. */
export const LENGTH = "function () { return this.length; }";

/** On an object: a reference that does not keep it alive. */
export const KEEP_WEAKLY = "function () { return new WeakRef(this); }";

/** On the result of {@link KEEP_WEAKLY}: the object, if it is still alive. */
export const DEREFERENCE = "function () { return this.deref(); }";

/** On the same: whether the instance exports all of these names. */
export const EXPORTS_ALL = `function (...names) {
  const instance = this.deref();
  return instance !== undefined && names.every((name) => name in instance.exports);
}`;

/**
 * On an object that remembers whether it is too late: pauses the thread between two turns of its event loop, if its
 * debugger is enabled.
 */
export const PAUSE_AT_REST = `function (schedule) {
  schedule(() => {
    if (this.taken) return;
    this.taken = true;
    debugger;
  }, 0);
}`;

/** On the object of {@link PAUSE_AT_REST}: it is too late. */
export const PAUSE_NO_MORE = "function () { this.taken = true; }";

/** On a scope of a paused frame, or on its operands: names, types and values as texts. */
export const SCOPE_VALUES = `function (limit) {
  return Object.keys(this).slice(0, limit).map((name) => {
    const value = this[name];
    return [name, String(value.type), String(value.value)];
  });
}`;
