// A program that leaks in every usual way, as much as it is asked to, beside parts that are steady but
// never the same: caches, queues, trees, pools.

let serial: i32 = 0;

// Leaks.

class Listener {
  tag: i32 = ++serial;
}

class Feed {
  listeners: Listener[] = [];
  transient: Listener[] = [];
}

const feed = new Feed();

class Session {
  id: i32 = ++serial;
  user: string = "user " + serial.toString();
  notes: string[] = ["first", serial.toString()];
}

const sessions = new Map<string, Session>();
const recent = new Map<i32, Session>();

class Entry {
  text: string = "entry " + (++serial).toString();
  constructor(public next: Entry | null) {}
}

class Journal {
  static head: Entry | null = null;
}

class Upload {
  data: StaticArray<u8> = new StaticArray<u8>(24);
}

const tokens = new Set<string>();

class Environment {
  captured: string = "captured " + (++serial).toString();
}

const handlers: (() => void)[] = [];

function nothing(): void {}

/** A closure, put together by hand: the compiler has none. */
function closure(): () => void {
  const template: () => void = nothing;
  const made = __new(8, load<u32>(changetype<usize>(template) - 8));
  store<u32>(made, load<u32>(changetype<usize>(template)));
  store<usize>(made, changetype<usize>(new Environment()), 4);
  return changetype<() => void>(made);
}

let text: string = "";
const views: Uint8Array[] = [];
const samples: i32[] = [];
const seen = new Map<i32, i32>();

class Visit {
  at: i32 = ++serial;
}

class User {
  history: Visit[] = [];
}

const busy: User[] = [];
const idle: User[] = [];

class Item {
  tag: i32 = ++serial;
}

// The cache comes before the registry by name, at the same distance from the roots.
const cache: Item[] = [];
const registry: Item[] = [];

class Connection {
  peer: Connection | null = null;
  previous: Connection | null = null;
  next: Connection | null = null;
}

class Pool {
  first: Connection | null = null;
}

const pool = new Pool();

class Job {
  parent: Workshop | null = null;
  parts: Part[] = [];
}

class Part {
  constructor(public job: Job) {}
}

class Workshop {
  jobs: Job[] = [];
}

const workshop = new Workshop();

class Even {
  next: Odd | null = null;
}

class Odd {
  next: Even | null = null;
}

let even: Even | null = null;

class Branch {
  left: Branch | null = null;
  right: Branch | null = null;
  constructor(public key: i32) {}
}

let branches: Branch | null = null;

class Slot {
  next: Slot | null = null;
}

const slots = new StaticArray<Slot | null>(64);

export const enum Leak {
  Listeners,
  Sessions,
  Chain,
  Pins,
  Tokens,
  Closures,
  Text,
  Views,
  Raw,
  Samples,
  Seen,
  Histories,
  Registry,
  Connections,
  Jobs,
  Alternating,
  Tree,
  Table,
  End,
}

export function setup(): void {
  for (let i = 0; i < 40; i++) (i % 2 ? busy : idle).push(new User());
  for (let i = 0; i < 30; i++) insert(new Chained(i));
  noise(Noise.LeastUsed, 60, 0);
}

export function leak(kind: Leak, amount: i32): void {
  switch (kind) {
    case Leak.Text: {
      text += "x".repeat(amount);
      return;
    }
    default:
      for (let i = 0; i < amount; i++) leakOne(kind);
  }
}

function leakOne(kind: Leak): void {
  switch (kind) {
    case Leak.Listeners: {
      feed.listeners.push(new Listener());
      break;
    }
    case Leak.Sessions: {
      const session = new Session();
      sessions.set("session " + session.id.toString(), session);
      break;
    }
    case Leak.Chain: {
      Journal.head = new Entry(Journal.head);
      break;
    }
    case Leak.Pins: {
      __pin(changetype<usize>(new Upload()));
      break;
    }
    case Leak.Tokens: {
      tokens.add("token " + (++serial).toString());
      break;
    }
    case Leak.Closures: {
      handlers.push(closure());
      break;
    }
    case Leak.Views: {
      views.push(Uint8Array.wrap(new ArrayBuffer(8192), 16, 32));
      break;
    }
    case Leak.Raw: {
      heap.alloc(100);
      break;
    }
    case Leak.Samples: {
      samples.push(++serial);
      break;
    }
    case Leak.Seen: {
      seen.set(++serial, 1);
      break;
    }
    case Leak.Histories: {
      const users = busy.length > serial % 40 ? busy : idle;
      users[serial % users.length].history.push(new Visit());
      break;
    }
    case Leak.Registry: {
      const item = new Item();
      registry.push(item);
      cache.push(item);
      break;
    }
    case Leak.Connections: {
      const connection = new Connection();
      const first = pool.first;
      connection.next = first;
      if (first) first.previous = connection;
      pool.first = connection;
      break;
    }
    case Leak.Jobs: {
      const job = new Job();
      job.parent = workshop;
      for (let i = 0; i < 3; i++) job.parts.push(new Part(job));
      workshop.jobs.push(job);
      break;
    }
    case Leak.Alternating: {
      const odd = new Odd();
      odd.next = even;
      even = new Even();
      (even as Even).next = odd;
      break;
    }
    case Leak.Tree: {
      const branch = new Branch((++serial * 7919) & 0xffff);
      if (!branches) {
        branches = branch;
        break;
      }
      let at = branches as Branch;
      while (true) {
        const next = branch.key < at.key ? at.left : at.right;
        if (!next) break;
        at = next;
      }
      if (branch.key < at.key) at.left = branch;
      else at.right = branch;
      break;
    }
    case Leak.Table: {
      const slot = new Slot();
      const nth = (++serial * 7919) & 63;
      slot.next = slots[nth];
      slots[nth] = slot;
      break;
    }
  }
}

// What is steady.

const words: string[] = [];
const queue: Listener[] = [];
const scratch: i32[] = [];
const raw: usize[] = [];
const pinned: usize[] = [];

class Download {
  data: StaticArray<u8> = new StaticArray<u8>(24);
}

const least = new Map<string, Session>();
const used: string[] = [];

class TreeNode {
  left: TreeNode | null = null;
  right: TreeNode | null = null;
}

let tree: TreeNode | null = null;

function grow(size: i32): TreeNode | null {
  if (size == 0) return null;
  const node = new TreeNode();
  node.left = grow((size - 1) / 3);
  node.right = grow(size - 1 - (size - 1) / 3);
  return node;
}

class Chained {
  next: Chained | null = null;
  constructor(public key: i32) {}
}

const buckets = new StaticArray<Chained | null>(16);

function insert(entry: Chained): void {
  entry.next = buckets[entry.key & 15];
  buckets[entry.key & 15] = entry;
}

class Parent {
  children: Child[] = [];
}

class Child {
  constructor(public parent: Parent) {}
}

const families: Parent[] = [];

class Ping {
  pong: Pong | null = null;
}

class Pong {
  ping: Ping | null = null;
}

let ping: Ping | null = null;

export const enum Noise {
  Transient,
  Recent,
  Words,
  Queue,
  Moves,
  Tree,
  Table,
  Scratch,
  Raw,
  Pins,
  LeastUsed,
  Families,
  Alternating,
  Cache,
  End,
}

/** Makes a steady part as large as `amount` says; `other` is a second number for it. */
export function noise(kind: Noise, amount: i32, other: i32): void {
  switch (kind) {
    case Noise.Transient: {
      feed.transient = [];
      for (let i = 0; i < amount; i++) feed.transient.push(new Listener());
      break;
    }
    case Noise.Recent: {
      recent.clear();
      for (let i = 0; i < amount; i++) recent.set(i, new Session());
      break;
    }
    case Noise.Words: {
      words.length = 0;
      for (let i = 0; i < amount; i++) words.push("w".repeat(1 + (i * other) % 30));
      break;
    }
    case Noise.Queue: {
      for (let i = 0; i < amount; i++) queue.push(new Listener());
      while (queue.length > other) queue.shift();
      break;
    }
    case Noise.Moves: {
      for (let i = 0; i < amount && busy.length > 0; i++) idle.push(busy.shift());
      for (let i = 0; i < other && idle.length > 0; i++) busy.push(idle.shift());
      break;
    }
    case Noise.Tree: {
      tree = grow(amount);
      break;
    }
    case Noise.Table: {
      for (let i = 0; i < buckets.length; i++) buckets[i] = null;
      for (let i = 0; i < amount; i++) insert(new Chained(i * other));
      break;
    }
    case Noise.Scratch: {
      scratch.length = amount * other;
      break;
    }
    case Noise.Raw: {
      while (raw.length > 0) heap.free(raw.pop());
      for (let i = 0; i < amount; i++) raw.push(heap.alloc(16 + other));
      break;
    }
    case Noise.Pins: {
      while (pinned.length > 0) __unpin(pinned.pop());
      for (let i = 0; i < amount; i++) pinned.push(__pin(changetype<usize>(new Download())));
      break;
    }
    case Noise.LeastUsed: {
      // Always as many: old ones go. Deleted entries stay in the map for a while.
      for (let i = 0; i < amount; i++) {
        const session = new Session();
        const key = "key " + session.id.toString();
        least.set(key, session);
        used.push(key);
      }
      while (used.length > 60) least.delete(used.shift());
      break;
    }
    case Noise.Families: {
      while (families.length > 5) families.shift();
      const family = new Parent();
      for (let i = 0; i < amount; i++) family.children.push(new Child(family));
      families.push(family);
      break;
    }
    case Noise.Alternating: {
      ping = null;
      for (let i = 0; i < amount; i++) {
        const pong = new Pong();
        pong.ping = ping;
        ping = new Ping();
        (ping as Ping).pong = pong;
      }
      break;
    }
    case Noise.Cache: {
      while (cache.length > amount) cache.shift();
      break;
    }
  }
}
