// A small web shop server. It has a leak: find it with the demo before you read on to the end.

/** A visitor; the server forgets sessions that were idle for long. */
class Session {
  cart: Map<string, i32> = new Map();
  lastSeen: i32 = 0;
  constructor(public id: i32, public user: string) {}
}

class Request {
  constructor(public path: string, public session: Session, public body: Uint8Array) {}
}

/** A rendered page. */
class Page {
  hits: i32 = 0;
  constructor(public path: string, public html: string) {}
}

/** Rendered pages, the oldest of which make room for new ones. */
class PageCache {
  private pages: Map<string, Page> = new Map();
  private order: string[] = [];
  constructor(private capacity: i32) {}

  get(path: string): Page {
    if (this.pages.has(path)) {
      const known = this.pages.get(path);
      known.hits++;
      return known;
    }
    const page = new Page(path, "<h1>" + path + "</h1>");
    this.pages.set(path, page);
    this.order.push(path);
    if (this.order.length > this.capacity) this.pages.delete(this.order.shift());
    return page;
  }
}

/** Wants to know when the price of a product changes. */
class PriceListener {
  notifications: i64 = 0;
  lowest: f64 = Infinity;
  highest: f64 = 0;
  last: f64 = 0;
  constructor(public sessionId: i32, public product: string) {}

  notify(price: f64): void {
    this.notifications++;
    this.lowest = Math.min(this.lowest, price);
    this.highest = Math.max(this.highest, price);
    this.last = price;
  }
}

class PriceFeed {
  private listeners: PriceListener[] = [];

  subscribe(listener: PriceListener): void {
    this.listeners.push(listener);
  }

  publish(product: string, price: f64): void {
    for (let i = 0; i < this.listeners.length; i++) {
      if (this.listeners[i].product == product) this.listeners[i].notify(price);
    }
  }
}

const PRODUCTS: string[] = ["tea", "teapot", "cup", "kettle", "sugar", "milk"];
const IDLE_LIMIT: i32 = 40;

let clock: i32 = 0;
const sessions: Map<i32, Session> = new Map();
const cache = new PageCache(32);
const prices = new PriceFeed();

function handle(request: Request): Page {
  const session = request.session;
  session.lastSeen = clock;
  const product = PRODUCTS[(session.id + clock) % PRODUCTS.length];
  session.cart.set(product, request.body.length);
  // Nobody unsubscribes when the session is forgotten: this is the leak.
  prices.subscribe(new PriceListener(session.id, product));
  return cache.get(request.path);
}

function forgetIdleSessions(): void {
  const ids = sessions.keys();
  for (let i = 0; i < ids.length; i++) {
    if (clock - sessions.get(ids[i]).lastSeen > IDLE_LIMIT) sessions.delete(ids[i]);
  }
}

/** Serves a number of requests, from a few dozen visitors that come and go. */
export function serve(requests: i32): void {
  for (let i = 0; i < requests; i++) {
    clock++;
    const id = clock / 8;
    if (!sessions.has(id)) sessions.set(id, new Session(id, "user " + id.toString()));
    handle(new Request("/products/" + (clock % 50).toString(), sessions.get(id), new Uint8Array(64 + (clock % 7))));
    if (clock % 16 == 0) {
      forgetIdleSessions();
      prices.publish(PRODUCTS[clock % PRODUCTS.length], <f64>(clock % 100));
    }
  }
}
