class Session {
  next: Session | null = null;
  constructor(public user: string) {}
}

const sessions = new Map<string, Session>();
let last: Session | null = null;
let count = 0;

export function work(rounds: i32): i32 {
  for (let round = 0; round < rounds; round++) {
    const session = new Session(`user ${count++}`);
    session.next = last;
    last = count % 10 == 0 ? null : session;
    sessions.set(session.user, session);
    sessions.delete(`user ${count - 50}`);
  }
  return sessions.size;
}

class Held {
  sum: i32 = 0;
  add(round: i32): void {
    this.sum += round;
  }
}

/** Works in one call, which has an object that only its stack refers to. It allocates nothing else. */
export function hold(rounds: i32): i32 {
  const held = new Held();
  for (let round = 0; round < rounds; round++) held.add(round);
  return held.sum;
}
