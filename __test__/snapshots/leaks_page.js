// A page that keeps too much in five ways, and three things that it keeps on purpose. `work()` does a round.
// The script is put into a page as it is.
(() => {
  const CLICKS = 400;
  const payload = (click) => Array.from({ length: 64 }, (_, nth) => click + nth / 3);

  class CachedView {
    constructor(click) {
      this.content = payload(click);
    }
  }

  class Visit {
    constructor(click) {
      this.trace = payload(click);
    }
  }

  // Leak 1: reached from the window.
  window.app = { cache: { items: [] } };
  // Leak 2: a Map that only functions know.
  const visits = new Map();
  // Leak 3: elements that are not in the document any more.
  const removedRows = [];
  // Leak 4: listeners of the window. Leak 5: timers. Both keep a variable.
  function listen(click) {
    const heard = payload(click);
    window.addEventListener("message", () => heard.push(0));
  }
  function poll(click) {
    const polled = payload(click);
    setInterval(() => polled.push(0), 1e9);
  }

  // Bounded: the last hundred, a cache of a hundred, and what goes with its key.
  const ring = new Array(100).fill(null);
  const recent = new Map();
  const notes = new WeakMap();

  let clicks = 0;
  function handle() {
    const click = clicks++;
    window.app.cache.items.push(new CachedView(click));
    visits.set(`visit ${click}`, new Visit(click));
    const row = document.createElement("tr");
    row.append(document.createElement("td"), `row ${click}`);
    row.content = payload(click);
    removedRows.push(row);
    listen(click);
    poll(click);

    ring[click % ring.length] = payload(click);
    recent.set(`view ${click}`, payload(click));
    if (recent.size > 100) recent.delete(recent.keys().next().value);
    notes.set({ click }, payload(click));
  }

  window.work = () => {
    for (let nth = 0; nth < CLICKS; nth++) handle();
  };
})();
