// A program with objects of all kinds, which writes a snapshot, changes, and writes another.
const v8 = require("node:v8");

class Node {
  constructor(next) {
    this.next = next;
    this.payload = { kind: "node", id: counter++ };
  }
}
class Session {
  #secret = Symbol("secret");
  constructor(user) {
    this.user = user;
    this.log = [`login of ${user}`];
    this.seen = new Set([user]);
  }
  secret() {
    return this.#secret;
  }
}
const other = {
  Node: class Node {
    constructor() {
      this.other = true;
    }
  },
};
let counter = 0;

function closures() {
  const big = new Array(1000).fill("x").join("") + counter++;
  let small = { counter };
  return [() => small, () => big.length, (value) => (small = value)];
}

const app = { sessions: new Map(), weak: new WeakMap(), refs: [], list: null, closures: [] };
globalThis.app = app;

function work(round) {
  for (let nth = 0; nth < 200; nth++) {
    app.list = new Node(app.list);
    const session = new Session(`user ${round} ${nth}`);
    app.sessions.set(session.user, session);
    app.weak.set(session, { value: session.log, extra: new Uint8Array(64), nth });
    app.refs.push(new WeakRef(session));
  }
  app.others = Array.from({ length: 50 }, () => new other.Node());
  app.closures.push(closures());
  app.numbers = Float64Array.from({ length: 1000 }, (_, nth) => nth / 7);
  app.doubles = [1.5, 2.5, 3.5];
  app.sparse = [];
  app.sparse[4294967290] = "far";
  app.cons = "left ".repeat(20) + app.refs.length + " right ".repeat(20);
  app.sliced = app.cons.slice(10, 90);
  app.surrogates = '\ud800 lone \udc00, pair \u{1f600}, \u0000 nul, "quoted", \\ back';
  app.bigint = 123456789012345678901234567890n;
  app.regexp = /a(b)c/giu;
  app.date = new Date(0);
  app.error = new Error("not thrown");
  app.promise = Promise.resolve({ answer: 42 });
  app.generator = (function* () {
    yield app.date;
  })();
  app.proxy = new Proxy({ target: 1 }, {});
  app.bound = work.bind(null, 1);
  app["a name, with 'quotes'"] = { "key with, comma": 1, "{brace}": {} };
  app.plain = Array.from({ length: 300 }, (_, nth) => ({ nth, name: `plain ${nth % 7}` }));
  app.superset = Array.from({ length: 30 }, (_, nth) => ({ nth, name: "more", round: [nth] }));
  app.dictionary = Object.fromEntries(
    Array.from({ length: 2000 }, (_, nth) => [`key ${nth}`, nth]),
  );
  app.buffer = Buffer.alloc(100_000);
  app.wasm = new WebAssembly.Memory({ initial: 1 });
}

const [, , before, after] = process.argv;
work(1);
v8.writeHeapSnapshot(before);
work(2);
for (const key of [...app.sessions.keys()].slice(0, 50)) app.sessions.delete(key);
v8.writeHeapSnapshot(after);
