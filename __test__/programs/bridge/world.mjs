// A host that runs a world: handles in columns with holes, in blocks of fixed size, in maps of maps, in a cache, and in
// a pool of objects that are used again.
import { Pins, randomFrom, Truth } from "./truth.mjs";

class Entity {
  constructor(id) {
    this.id = id;
    this.parts = new Map();
  }
}

/** Used again after it was freed; keeps the old number until then. */
class Bullet {
  handle = 0;
  isFree = true;
}

class Tile {
  constructor(level, mesh) {
    this.level = level;
    this.mesh = mesh;
  }
}

class Particle {
  constructor(seed) {
    this.seed = seed;
    this.age = 0;
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
  program.work(4000);

  {
    const hold = truth.group("column with holes", { at: "app.bodies", slot: "element" });
    app.bodies = [];
    for (let nth = 0; nth < 100; nth++) {
      const address = nth % 6 === 1 ? -1 : pins.pin();
      if (nth % 33 === 20) stale.push(address);
      else if (address !== -1) hold(address);
      app.bodies.push(address);
    }
  }
  {
    const hold = truth.group("blocks of 8", { under: "app.blocks", slot: "element" });
    app.blocks = [];
    for (let nth = 0; nth < 10; nth++) {
      const block = new Array(8).fill(0);
      for (let place = 0; place < 6; place++) block[place] = hold(pins.pin());
      app.blocks.push(block);
    }
  }
  {
    const hold = truth.group("maps of maps", { under: "app.entities", slot: "value" });
    app.entities = new Map();
    for (let nth = 0; nth < 40; nth++) {
      const entity = new Entity(nth);
      for (const part of ["shape", "skin", "sound"].slice(0, 1 + (nth % 3))) entity.parts.set(part, hold(pins.pin()));
      app.entities.set(nth, entity);
    }
  }
  {
    const hold = truth.group("cache from name to record", { under: "app.cache", slot: "handle" });
    app.cache = new Map();
    for (let nth = 0; nth < 60; nth++) {
      const address = pins.pin();
      if (nth % 30 === 17) stale.push(address);
      else hold(address);
      app.cache.set(`texture ${nth}`, { handle: address, size: 64 * below(300), used: 1000 + nth });
    }
  }
  {
    const hold = truth.group("objects that are used again, two of five are free", { class: "Bullet", slot: "handle" });
    app.bullets = Array.from({ length: 50 }, () => new Bullet());
    for (const [nth, bullet] of app.bullets.entries()) {
      bullet.handle = pins.pin();
      bullet.isFree = nth % 5 > 2;
      if (bullet.isFree) stale.push(bullet.handle);
      else hold(bullet.handle);
    }
  }
  {
    const hold = truth.group("field that a class has in some instances", { class: "Tile", slot: "mesh" });
    app.tiles = [];
    for (let nth = 0; nth < 70; nth++) app.tiles.push(new Tile(nth % 4, nth % 2 === 0 ? hold(pins.pin()) : null));
  }
  {
    const hold = truth.group("x, y, handle", { at: "app.sprites", slot: "element" });
    app.sprites = new Float64Array(3 * 40);
    for (let nth = 0; nth < 40; nth++) {
      app.sprites.set([random() * 800, 16 * below(40), hold(pins.pin())], 3 * nth);
    }
  }
  {
    const hold = truth.group("objects of the bindings", { class: "Internref", slot: "[[PrimitiveValue]]" });
    app.players = {};
    for (let nth = 0; nth < 30; nth++) {
      const ticket = program.makeTicket(nth);
      hold(ticket.valueOf());
      app.players[`player ${nth}`] = { name: `player ${nth}`, ticket };
    }
  }
  {
    const hold = truth.group("variables of effects", { under: "app.effects", slot: "handle" });
    const effect = (handle, life) => () => (life-- > 0 ? handle : 0);
    app.effects = new Set();
    for (let nth = 0; nth < 35; nth++) app.effects.add(effect(hold(pins.pin()), below(500)));
  }
  {
    const hold = truth.group("local variables of generators", { under: "app.scripts", slot: "handle" }, { single: true, unseen: true });
    const script = function* (handle) {
      yield 1;
      yield handle;
    };
    app.scripts = [];
    for (let nth = 0; nth < 12; nth++) {
      const running = script(hold(pins.pin()));
      running.next();
      app.scripts.push(running);
    }
  }
  {
    const hold = truth.group("fields of one object each", { at: "app.singles", slot: "property" }, { single: true });
    app.singles = {
      terrain: { mesh: hold(pins.pin()), rows: 64, columns: 64 },
      sky: { texture: hold(pins.pin()), exposure: 1.5 },
      sea: { level: 16, surface: hold(pins.pin()), waves: [hold(pins.pin()), 4, 0.5] },
      camera: new Map([["position", hold(pins.pin())], ["speed", 32]]),
    };
  }
  for (let nth = 0; nth < 35; nth++) truth.lose(pins.pin());

  globalThis.noise = {
    particles: Array.from({ length: 5000 }, () => new Particle(16 * below(40_000))),
    keys: Array.from({ length: 3000 }, (_, nth) => 16 * nth),
    grid: Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => 16 * below(40_000))),
    scores: new Map(Array.from({ length: 700 }, (_, nth) => [nth, 16 * below(40_000)])),
    parts: Array.from({ length: 150 }, () => new Map([["shape", 16 * below(40_000)], ["skin", 16 * below(40_000)]])),
    vertices: Float32Array.from({ length: 3000 }, () => 16 * below(40_000)),
    indexes: Uint32Array.from({ length: 3000 }, () => 16 * below(40_000)),
  };
  for (const address of stale.splice(0)) pins.release(address);
  pins.collect();
  return truth.text();
}
