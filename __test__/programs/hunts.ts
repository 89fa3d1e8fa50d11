// A program with five leaks, each behind a function of its own, and a bounded cache that changes beside them.

class Page {
  constructor(public id: i32, public text: string) {}
}

class Link {
  next: Link | null = null;
  constructor(public page: Page) {}
}

class Registry {
  sessions: Map<string, Page> = new Map();
  seen: Set<string> = new Set();
}

const cache: Map<i32, Page> = new Map();
const history: Page[] = [];
const registry: Registry = new Registry();
let newest: Link | null = null;
let log: string = "";
let next: i32 = 1000;

function page(): Page {
  next++;
  return new Page(next, "the text of page " + next.toString());
}

export function array(): void {
  history.push(page());
}

export function map(): void {
  const made = page();
  registry.sessions.set("session " + made.id.toString(), made);
}

export function set(): void {
  registry.seen.add("visitor " + page().id.toString());
}

export function list(): void {
  const link = new Link(page());
  link.next = newest;
  newest = link;
}

export function text(): void {
  log += page().text + "\n";
}

/** What every round does: new pages take the place of old ones. */
export function work(count: i32): void {
  for (let i = 0; i < count; i++) cache.set(i & 15, page());
}
