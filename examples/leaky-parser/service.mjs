// The host of the parser: it passes the documents of clients to the module. One client in 20 hangs up too early.

const PRODUCTS = ["tea", "teapot", "cup", "kettle", "sugar", "milk"];

/** The document that a client sends as its nth request. Orders of 70 customers come again and again. */
function documentOf(nth) {
  const items = Array.from({ length: 2 + (nth % 3) }, (_, at) => ({
    product: PRODUCTS[(nth + at) % PRODUCTS.length],
    price: 1 + at / 2,
    count: 1 + (nth % 4),
  }));
  const document = JSON.stringify({ order: nth % 70, customer: `customer ${nth % 70}`, items });
  const isCutOff = nth % 20 === 19;
  return isCutOff ? document.slice(0, Math.floor(document.length * 0.7)) : document;
}

/** A service with an instance of the parser. */
export class Service {
  #exports;
  #requests = 0;
  refused = 0;

  /** @param {WebAssembly.Exports} exports the exports of the instance. */
  constructor(exports) {
    this.#exports = exports;
    exports._initialize();
  }

  /** Serves the next requests. */
  serve(count) {
    for (let nth = 0; nth < count; nth++) {
      if (Number.isNaN(this.#handle(documentOf(this.#requests++)))) this.refused++;
    }
  }

  #handle(document) {
    const bytes = new TextEncoder().encode(document);
    const room = this.#exports.room_for(bytes.length);
    new Uint8Array(this.#exports.memory.buffer).set(bytes, room);
    return this.#exports.handle(room);
  }
}
