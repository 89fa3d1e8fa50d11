// A program of parts that keep a bounded number of things, with numbers in their texts, beside leaks of which each
// adds an object and 64 bytes or more.

let serial: i32 = 0;

function next(): i32 {
  return ++serial;
}

class Entry {
  id: i32 = next();
  name: string = "entry " + serial.toString();
}

class Page {
  title: string;
  lines: string[] = [];
  constructor(nth: i32) {
    this.title = "page " + nth.toString();
    this.lines.push("line 1 of " + nth.toString());
  }
}

class User {
  history: string[] = [];
  visits: i32[] = [];
}

class Task {
  next: Task | null = null;
  what: string = "task " + next().toString();
}

class Bucket {
  entries: Entry[] = [];
}

// What is bounded.

const ring: Entry[] = [];
let ringAt: i32 = 0;
const pages = new Map<i32, Page>();
const pageOrder: i32[] = [];
const users: User[] = [];
let userAt: i32 = 0;
const counters: string[] = [];
let counted: i32 = 0;
const keys = new Set<string>();
const keyOrder: string[] = [];
let log: string = "";
const samples: i32[] = [];
let firstTask: Task | null = null;
let lastTask: Task | null = null;
let tasks: i32 = 0;
const words = new Map<string, i32>();
const buckets = new Map<string, Bucket>();
let bucketAt: i32 = 0;
const messages: ArrayBuffer[] = [];
let messageAt: i32 = 0;
let transient: Page[] = [];

export const enum Bounded {
  Ring,
  Pages,
  Histories,
  Counters,
  Keys,
  Log,
  Samples,
  Tasks,
  Words,
  Buckets,
  Messages,
  Transient,
  End,
}

/** Adds as much as `amount` says to a part that keeps at most `most`. */
export function keep(kind: Bounded, amount: i32, most: i32): void {
  switch (kind) {
    case Bounded.Ring: {
      for (let i = 0; i < amount; i++) {
        if (ring.length < most) ring.push(new Entry());
        else ring[ringAt++ % most] = new Entry();
      }
      break;
    }
    case Bounded.Pages: {
      for (let i = 0; i < amount; i++) {
        const nth = next();
        pages.set(nth, new Page(nth));
        pageOrder.push(nth);
        if (pageOrder.length > most) pages.delete(pageOrder.shift());
      }
      break;
    }
    case Bounded.Histories: {
      while (users.length < 5) users.push(new User());
      for (let i = 0; i < amount; i++) {
        const user = users[userAt++ % users.length];
        user.history.push("visit " + next().toString());
        user.visits.push(serial);
        if (user.history.length > most / 5) user.history.shift();
        if (user.visits.length > most / 5) user.visits.shift();
      }
      break;
    }
    case Bounded.Counters: {
      for (let i = 0; i < amount && counters.length < most; i++) counters.push("");
      counted += 1 + counted / 2;
      for (let i = 0; i < counters.length; i++) counters[i] = "counted " + (counted * (i + 1)).toString();
      break;
    }
    case Bounded.Keys: {
      for (let i = 0; i < amount; i++) {
        const key = "key " + next().toString();
        keys.add(key);
        keyOrder.push(key);
        if (keyOrder.length > most) keys.delete(keyOrder.shift());
      }
      break;
    }
    case Bounded.Log: {
      for (let i = 0; i < amount; i++) log += "line " + next().toString() + "\n";
      if (log.length > 8 * most) log = log.substring(log.length - 8 * most);
      break;
    }
    case Bounded.Samples: {
      for (let i = 0; i < amount; i++) {
        samples.push(next());
        if (samples.length > most) samples.shift();
      }
      break;
    }
    case Bounded.Tasks: {
      for (let i = 0; i < amount; i++) {
        const task = new Task();
        if (lastTask) (lastTask as Task).next = task;
        else firstTask = task;
        lastTask = task;
        if (++tasks > most) {
          firstTask = (firstTask as Task).next;
          tasks--;
        }
      }
      break;
    }
    case Bounded.Words: {
      for (let i = 0; i < amount; i++) words.set("word " + (words.size % most).toString(), next());
      break;
    }
    case Bounded.Buckets: {
      for (let i = 0; i < amount; i++) {
        const name = "bucket " + (bucketAt++ % 4).toString();
        if (!buckets.has(name)) buckets.set(name, new Bucket());
        const entries = buckets.get(name).entries;
        entries.push(new Entry());
        if (entries.length > most / 4) entries.shift();
      }
      break;
    }
    case Bounded.Messages: {
      for (let i = 0; i < amount; i++) {
        const message = String.UTF8.encode("message " + next().toString());
        if (messages.length < most) messages.push(message);
        else messages[messageAt++ % most] = message;
      }
      break;
    }
    case Bounded.Transient: {
      transient = [];
      for (let i = 0; i < 1 + (serial % amount); i++) transient.push(new Page(next()));
      break;
    }
  }
}

// Leaks.

class Payload {
  text: string = "x".repeat(32);
}

class Session {
  data: StaticArray<u8> = new StaticArray<u8>(64);
  next: Session | null = null;
}

class Account {
  log: Payload[] = [];
}

const listed: Payload[] = [];
const mapped = new Map<string, Payload>();
const tokens = new Set<string>();
let chain: Session | null = null;
const views: Uint8Array[] = [];
const accounts: Account[] = [];
const numbered = new Map<i32, Payload>();
const rows: i32[][] = [];

export const enum Leak {
  Listed,
  Mapped,
  Tokens,
  Chain,
  Pins,
  Views,
  History,
  Accounts,
  Numbered,
  Rows,
  End,
}

/** Adds to what nothing removes. */
export function leak(kind: Leak, amount: i32): void {
  for (let i = 0; i < amount; i++) leakOne(kind);
}

function leakOne(kind: Leak): void {
  switch (kind) {
    case Leak.Listed: {
      listed.push(new Payload());
      break;
    }
    case Leak.Mapped: {
      mapped.set("mapped " + next().toString(), new Payload());
      break;
    }
    case Leak.Tokens: {
      tokens.add("a token that has more than thirty letters " + next().toString());
      break;
    }
    case Leak.Chain: {
      const session = new Session();
      session.next = chain;
      chain = session;
      break;
    }
    case Leak.Pins: {
      __pin(changetype<usize>(new Session()));
      break;
    }
    case Leak.Views: {
      views.push(new Uint8Array(64));
      break;
    }
    case Leak.History: {
      // One of the users, whose histories are bounded otherwise.
      while (users.length < 5) users.push(new User());
      users[0].history.unshift("a visit that nothing forgets, for ever " + next().toString());
      break;
    }
    case Leak.Accounts: {
      while (accounts.length < 6) accounts.push(new Account());
      accounts[next() % accounts.length].log.push(new Payload());
      break;
    }
    case Leak.Numbered: {
      numbered.set(next(), new Payload());
      break;
    }
    case Leak.Rows: {
      const row = new Array<i32>(16);
      rows.push(row);
      break;
    }
  }
}
