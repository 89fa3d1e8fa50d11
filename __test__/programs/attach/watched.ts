class Session {
  constructor(public user: string) {}
}

const sessions = new Map<string, Session>();
let count = 0;

export function serve(rounds: i32): void {
  for (let round = 0; round < rounds; round++) {
    const user = `user ${count++}`;
    sessions.set(user, new Session(user));
  }
}

export function serveBounded(rounds: i32): void {
  serve(rounds);
  for (let old = count - rounds - 100; old < count - 100; old++) sessions.delete(`user ${old}`);
}
