// Dumps while the collector marks, and while it sweeps, at many points of a cycle.
import { collectorState, judge, STATE_IDLE, STATE_MARK, STATE_SWEEP } from "./support/host";

class Node {
  next: Node | null = null;
  other: Node | null = null;
  constructor(public tag: i32) {}
}

let kept: Node[] = [];
let pinnedAddress: usize = 0;

function build(): void {
  for (let i = 0; i < 8000; i++) {
    const node = new Node(i);
    node.next = new Node(-i);
    kept.push(node);
    new Node(i);
  }
}

/** Allocates garbage until the collector is in `state`, and then continues for `more` allocations. */
function driveTo(state: i32, more: i32): void {
  while (collectorState() != state) new Node(0);
  for (let i = 0; i < more; i++) new Node(i);
}

/** Removes and creates references while the collector marks, as its write barrier allows. */
function mutate(seed: i32): void {
  for (let i = 0; i < 40; i++) {
    const from = kept[(seed * 31 + i * 97) % kept.length];
    const to = kept[(seed * 17 + i * 53) % kept.length];
    const moved = from.next;
    from.next = null;
    to.other = moved;
    from.other = new Node(i);
  }
}

export function main(): void {
  build();
  __collect();
  let id = 0;
  for (let more = 0; more < 200; more += 40) {
    driveTo(STATE_MARK, more);
    mutate(id);
    judge(id++);
    driveTo(STATE_MARK, 0);
    driveTo(STATE_SWEEP, more);
    mutate(id);
    judge(id++);
  }
  // Pin and unpin in mid-cycle.
  driveTo(STATE_MARK, 10);
  pinnedAddress = __pin(changetype<usize>(new Node(1)));
  judge(id++);
  driveTo(STATE_MARK, 10);
  __unpin(pinnedAddress);
  judge(id++);
  driveTo(STATE_SWEEP, 5);
  kept.length = 100;
  judge(id++);
  driveTo(STATE_IDLE, 0);
  judge(id++);
}
