class Counter {
  turns: i32 = 0;
}

const counter = new Counter();

/** Counts a turn. */
export function turn(): void {
  counter.turns++;
}

/** Counts for so long that the program never rests. */
export function spin(rounds: i32): i32 {
  let sum = 0;
  for (let round = 0; round < rounds; round++) sum += mixed(round);
  return sum;
}

function mixed(round: i32): i32 {
  const text = round.toString();
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum += text.charCodeAt(index);
  counter.turns++;
  return sum;
}
