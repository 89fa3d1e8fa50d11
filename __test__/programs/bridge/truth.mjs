// What a program of this folder knows about its own handles. Addresses are kept as text only: a number that the
// program remembers would be one more holder.

/** Random numbers in [0, 1) from a seed. */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Which holder has which pinned objects. */
export class Truth {
  #groups = [];
  #lost = "";

  /**
   * Begins a group of holders.
   *
   * @param name what the holders are.
   * @param holder where the handles are: `{class, slot}` for a property of all instances of a class; `{at, slot}` for
   *   the container at a path of the global object; `{under, slot}` for containers that are below that path.
   * @param traits `single`: each handle has a slot of its own kind. `block`: the variable of a block,
   *   which only `closures` shows. `unseen`: V8 shows the value in no way.
   * @returns a function that records an address and returns it.
   */
  group(name, holder, traits = {}) {
    const group = { name, holder, ...traits, addresses: "" };
    this.#groups.push(group);
    return (address) => {
      group.addresses += ` ${address}`;
      return address;
    };
  }

  /** A pinned object that nothing in JavaScript holds. */
  lose(address) {
    this.#lost += ` ${address}`;
  }

  /** Everything as JSON. Calls no function with an address. */
  text() {
    const list = (text) => `[${text.trim().replaceAll(" ", ",")}]`;
    const groups = this.#groups.map(({ addresses, ...rest }) => {
      const head = JSON.stringify(rest).slice(0, -1);
      return `${head},"addresses":${list(addresses)}}`;
    });
    return `{"groups":[${groups.join(",\n")}],\n"lost":${list(this.#lost)}}\n`;
  }
}

/** Pins, as a host does that keeps addresses. */
export class Pins {
  /** @param program the bindings that `asc --bindings raw` wrote, which have the exports as their prototype. */
  constructor(program, random) {
    this.program = program;
    this.raw = Object.getPrototypeOf(program);
    this.random = random;
    this.count = 0;
  }

  /** The address of a new object that is pinned. */
  pin() {
    const { raw, random } = this;
    const kind = this.count++ % 3;
    const size = 4 + Math.floor(random() * 90);
    if (kind === 0) return raw.__pin(raw.makeTicket(this.count));
    if (kind === 1) return raw.__pin(raw.makeText(size));
    return raw.__pin(raw.makeBytes(size));
  }

  /** Unpins. The host keeps the number: it is stale from now on. */
  release(address) {
    this.raw.__unpin(address);
  }

  collect() {
    this.raw.__collect();
  }
}
