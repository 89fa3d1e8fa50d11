// A host that serves requests: handles in fields, maps, pools, listeners and queues, most of them with other numbers
// beside them. `build` makes everything and returns the truth; `globalThis.app` keeps it.
import { Pins, randomFrom, Truth } from "./truth.mjs";

class Request {
  constructor(id, handle, size) {
    this.id = id;
    this.size = size;
    this.handle = handle;
  }
}

class Upload {
  #buffer;
  constructor(name, buffer) {
    this.name = name;
    this.#buffer = buffer;
  }
  close() {
    this.#buffer = 0;
  }
  get isOpen() {
    return this.#buffer !== 0;
  }
}

/** Keeps the number after it was closed. */
class Attachment {
  constructor(handle) {
    this.isClosed = false;
    this.handle = handle;
  }
}

class Renderer {
  constructor(scene, camera) {
    this.scene = scene;
    this.camera = camera;
    this.width = 1280;
    this.height = 720;
  }
}

class Chunk {
  constructor(offset, length) {
    this.offset = offset;
    this.length = length;
  }
}

class Row {
  constructor(id, weight) {
    this.id = id;
    this.weight = weight;
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
  program.work(1500);

  {
    const hold = truth.group("field of requests, 1 of 11 stale", { class: "Request", slot: "handle" });
    app.requests = [];
    for (let nth = 0; nth < 110; nth++) {
      const address = pins.pin();
      if (nth % 11 === 5) stale.push(address);
      else hold(address);
      app.requests.push(new Request(1000 + nth, address, below(100_000)));
    }
  }
  {
    const hold = truth.group("private field, a third is closed", { class: "Upload", slot: "#buffer" });
    app.uploads = new Set();
    for (let nth = 0; nth < 60; nth++) {
      const address = pins.pin();
      const upload = new Upload(`file ${nth}`, address);
      app.uploads.add(upload);
      if (nth % 3 === 0) {
        pins.release(address);
        upload.close();
      } else hold(address);
    }
  }
  {
    const hold = truth.group("values of a map, some are -1", { at: "app.byUser", slot: "value" });
    app.byUser = new Map();
    for (let nth = 0; nth < 80; nth++) {
      const address = nth % 7 === 0 ? -1 : pins.pin();
      if (address !== -1 && nth % 20 === 3) stale.push(address);
      else if (address !== -1) hold(address);
      app.byUser.set(`user ${nth}`, address);
    }
  }
  {
    const hold = truth.group("arrays [handle, length]", { under: "app.buffers", slot: "0" });
    app.buffers = new Map();
    for (let nth = 0; nth < 70; nth++) {
      const size = 16 * below(12_000);
      app.buffers.set(7 * nth, [hold(pins.pin()), size]);
    }
  }
  {
    const hold = truth.group("pool with free places", { at: "app.pool", slot: "element" });
    app.pool = new Int32Array(128);
    for (let nth = 0; nth < 50; nth++) app.pool[(nth * 37) % 128] = hold(pins.pin());
  }
  {
    const hold = truth.group("variables of listeners", { under: "app.listeners", slot: "handle" });
    const listener = (handle) => (price) => program.priceOf !== undefined && price > handle;
    app.listeners = [];
    for (let nth = 0; nth < 60; nth++) app.listeners.push(listener(hold(pins.pin())));
  }
  {
    const hold = truth.group("queue of names and handles", { at: "app.queue", slot: "element" });
    app.queue = [];
    for (let nth = 0; nth < 30; nth++) app.queue.push(hold(pins.pin()), `job ${nth}`);
  }
  {
    const hold = truth.group("array handle, length, handle, …", { at: "app.segments", slot: "element" });
    app.segments = [];
    for (let nth = 0; nth < 40; nth++) app.segments.push(hold(pins.pin()), below(70_000));
  }
  {
    const hold = truth.group("object by name, some stale", { at: "app.fonts", slot: "property" });
    app.fonts = Object.create(null);
    for (let nth = 0; nth < 45; nth++) {
      const address = pins.pin();
      if (nth % 15 === 7) stale.push(address);
      else hold(address);
      app.fonts[`font-${nth}`] = address;
    }
  }
  {
    const hold = truth.group("field, a third is stale", { class: "Attachment", slot: "handle" });
    app.attachments = [];
    for (let nth = 0; nth < 45; nth++) {
      const attachment = new Attachment(pins.pin());
      if (nth % 3 === 1) {
        attachment.isClosed = true;
        stale.push(attachment.handle);
      } else hold(attachment.handle);
      app.attachments.push(attachment);
    }
  }
  {
    const hold = truth.group("single values", { at: "app.settings", slot: "property" }, { single: true });
    const settings = { port: 8080, limit: 4096, theme: { atlas: 0, cursor: 0 } };
    settings.atlas = hold(pins.pin());
    settings.theme.atlas = hold(pins.pin());
    settings.theme.cursor = hold(pins.pin());
    app.settings = settings;
    const own = truth.group("fields of three instances", { class: "Renderer", slot: "scene" }, { single: true });
    app.renderers = [];
    for (let nth = 0; nth < 3; nth++) app.renderers.push(new Renderer(own(pins.pin()), own(pins.pin())));
    const variable = truth.group("variable of one function", { under: "app.current", slot: "current" }, { single: true, block: true });
    let current = variable(pins.pin());
    app.current = () => current++;
    const wrapped = truth.group("one Number", { at: "app.boxed", slot: "[[PrimitiveValue]]" }, { single: true });
    app.boxed = Object(wrapped(pins.pin()));
    const mixed = truth.group("one element among others", { at: "app.limits", slot: "element" }, { single: true });
    app.limits = [80, 443, mixed(pins.pin()), 8080, 65_536];
  }
  for (let nth = 0; nth < 40; nth++) truth.lose(pins.pin());

  // Nothing of this is a handle.
  const top = 16 * below(400) + 300_000;
  globalThis.noise = {
    chunks: Array.from({ length: 1500 }, (_, nth) => new Chunk(34_000 + 16 * nth, 16)),
    rows: Array.from({ length: 3000 }, (_, nth) => new Row(8 * nth, below(top) & ~15)),
    histogram: Array.from({ length: 4000 }, () => 16 * below(20_000)),
    positions: Uint32Array.from({ length: 2500 }, (_, nth) => 16 * nth),
    counts: new Map(Array.from({ length: 1500 }, (_, nth) => [`k${nth}`, 16 * below(20_000)])),
    seen: new Set(Array.from({ length: 800 }, () => 16 * below(20_000))),
    pairs: Array.from({ length: 300 }, () => [16 * below(20_000), below(50)]),
  };
  // The last that happens: the objects are gone, and their addresses are not used again.
  for (const address of stale.splice(0)) pins.release(address);
  pins.collect();
  return truth.text();
}
