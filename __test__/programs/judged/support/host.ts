// The interface between every program and the judge.

// @ts-ignore: decorator
@external("host", "dump")
declare function hostDump(id: i32): void;

// @ts-ignore: decorator
@external("host", "victim")
declare function hostVictim(address: usize): void;

// @ts-ignore: decorator
@external("host", "collectorState")
export declare function collectorState(): i32;

export const STATE_IDLE: i32 = 0;
export const STATE_MARK: i32 = 1;
export const STATE_SWEEP: i32 = 2;

/** Requests a dump, collects, and requests a second one: the second shows the live objects of the first. */
export function judge(id: i32): void {
  hostDump(id * 2);
  __collect();
  hostDump(id * 2 + 1);
}

/** Before the only reference to the object at `victim` is cut. */
export function beforeCut(id: i32, victim: usize): void {
  __collect();
  hostDump(id * 2);
  hostVictim(victim);
}

/** After the cut: the freed objects were retained. */
export function afterCut(id: i32): void {
  __collect();
  hostDump(id * 2 + 1);
}
