// A host that edits documents: objects of the bindings in a tree, and handles in sets, small sets, keys of a map, undo
// steps, a list and records of numbers.
import { Pins, randomFrom, Truth } from "./truth.mjs";

class Block {
  constructor(ticket, parent) {
    this.ticket = ticket;
    this.parent = parent;
    this.children = [];
  }
}

class UndoStep {
  constructor(before, after, position) {
    this.before = before;
    this.after = after;
    this.position = position;
  }
}

class Link {
  constructor(handle, next) {
    this.handle = handle;
    this.next = next;
  }
}

class User {
  constructor(name) {
    this.name = name;
    this.open = new Set();
  }
}

class Glyph {
  constructor(x, y) {
    this.x = x;
    this.y = y;
  }
}

export function build(program, seed) {
  const random = randomFrom(seed);
  const below = (limit) => Math.floor(random() * limit);
  const truth = new Truth();
  const pins = new Pins(program, random);
  const app = {};
  globalThis.app = app;
  const stale = [];
  program.work(2500);

  {
    const hold = truth.group("objects of the bindings", { class: "Internref", slot: "[[PrimitiveValue]]" });
    app.root = new Block(null, null);
    let at = app.root;
    for (let nth = 0; nth < 90; nth++) {
      const ticket = program.makeTicket(nth);
      hold(ticket.valueOf());
      const block = new Block(ticket, at);
      at.children.push(block);
      if (nth % 4 === 3) at = block;
    }
  }
  {
    const hold = truth.group("set", { at: "app.selection", slot: "member" });
    app.selection = new Set();
    for (let nth = 0; nth < 40; nth++) {
      const address = pins.pin();
      if (nth % 20 === 11) stale.push(address);
      else hold(address);
      app.selection.add(address);
    }
  }
  {
    const hold = truth.group("small sets of users", { under: "app.users", slot: "member" });
    app.users = [];
    for (let nth = 0; nth < 40; nth++) {
      const user = new User(`user ${nth}`);
      for (let count = nth % 3; count > 0; count--) user.open.add(hold(pins.pin()));
      app.users.push(user);
    }
  }
  {
    const hold = truth.group("keys of a map", { at: "app.sizes", slot: "key" });
    app.sizes = new Map();
    for (let nth = 0; nth < 60; nth++) app.sizes.set(hold(pins.pin()), 16 * below(5000));
  }
  {
    const before = truth.group("undo steps, before", { class: "UndoStep", slot: "before" });
    const after = truth.group("undo steps, after", { class: "UndoStep", slot: "after" });
    app.undo = [];
    for (let nth = 0; nth < 50; nth++) {
      const first = nth % 10 === 0 ? 0 : before(pins.pin());
      const second = pins.pin();
      if (nth % 25 === 24) stale.push(second);
      else after(second);
      app.undo.push(new UndoStep(first, second, 16 * below(1000)));
    }
  }
  {
    const hold = truth.group("linked list", { class: "Link", slot: "handle" });
    app.recent = null;
    for (let nth = 0; nth < 40; nth++) app.recent = new Link(hold(pins.pin()), app.recent);
  }
  {
    const hold = truth.group("records of four numbers", { at: "app.spans", slot: "element" });
    app.spans = new Uint32Array(4 * 50);
    for (let nth = 0; nth < 50; nth++) {
      app.spans.set([hold(pins.pin()), below(4000), nth % 5, 1_700_000_000 + below(80_000_000)], 4 * nth);
    }
  }
  {
    const hold = truth.group("plain objects", { under: "app.images", slot: "data" });
    app.images = [];
    for (let nth = 0; nth < 45; nth++) {
      app.images.push({ data: hold(pins.pin()), width: 16 * below(120), height: 16 * below(120) });
    }
  }
  {
    const hold = truth.group("functions with bound arguments", { under: "app.commands", slot: "argument" });
    const run = (handle, price) => program.priceOf(handle) > price;
    app.commands = new Map();
    for (let nth = 0; nth < 25; nth++) app.commands.set(`command ${nth}`, run.bind(null, hold(pins.pin())));
  }
  {
    const hold = truth.group("local variables of asynchronous functions", { under: "app.pending", slot: "handle" }, { single: true, unseen: true });
    const wait = async (handle) => {
      await new Promise(() => {});
      return handle;
    };
    app.pending = [];
    for (let nth = 0; nth < 20; nth++) app.pending.push(wait(hold(pins.pin())));
  }
  {
    const hold = truth.group("single values", { at: "app.view", slot: "property" }, { single: true });
    app.view = { zoom: 100, page: 16, cursor: hold(pins.pin()), clipboard: [hold(pins.pin())], title: hold(pins.pin()) };
    const wide = truth.group("one element of a typed array", { at: "app.state", slot: "element" }, { single: true });
    app.state = Float64Array.of(0.5, 1024, wide(pins.pin()), 1e9);
  }
  for (let nth = 0; nth < 30; nth++) truth.lose(pins.pin());

  globalThis.noise = {
    glyphs: Array.from({ length: 4000 }, () => new Glyph(16 * below(30_000), 16 * below(30_000))),
    offsets: Array.from({ length: 3000 }, (_, nth) => 40_000 + 16 * nth),
    widths: new Map(Array.from({ length: 900 }, (_, nth) => [16 * below(30_000), nth])),
    lines: Array.from({ length: 400 }, () => [16 * below(30_000), 16 * below(30_000), 16 * below(30_000)]),
    small: Array.from({ length: 200 }, () => new Set([16 * below(30_000)])),
    marks: Array.from({ length: 100 }, () => ({ from: 16 * below(30_000), to: 16 * below(30_000) })),
    samples: Float64Array.from({ length: 2000 }, () => 16 * below(30_000)),
  };
  for (const address of stale.splice(0)) pins.release(address);
  pins.collect();
  return truth.text();
}
