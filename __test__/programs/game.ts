// A game with three leaks: players that left, a replay that is never cut, and pictures that are kept by a changing key.
class Player {
  open: bool = true;
  friends: Player[] = [];
  constructor(public name: string, public level: i32) {}
}

class Move {
  constructor(public player: Player, public x: f64, public y: f64) {}
}

class Picture {
  pixels: Uint8Array;
  constructor(public title: string, size: i32) {
    this.pixels = new Uint8Array(size);
  }
}

class Lobby {
  players: Map<i32, Player> = new Map();
}

class Replay {
  moves: Move[] = [];
}

const lobby = new Lobby();
const replay = new Replay();
const pictures: Map<string, Picture> = new Map();
const board: StaticArray<i32> = new StaticArray<i32>(400);
let round: i32 = 0;

/** Plays rounds: in each, a player comes, moves three times, and leaves. */
export function play(rounds: i32): void {
  for (let nth = 0; nth < rounds; nth++) {
    round++;
    const player = new Player("player " + round.toString(), round % 7);
    // The first leak: who leaves is closed, but stays in the lobby.
    lobby.players.set(round, player);
    for (let step = 0; step < 3; step++) {
      // The second leak: the replay keeps all moves.
      replay.moves.push(new Move(player, <f64>step, <f64>(round % 20)));
      board[(round + step) % board.length] = step;
    }
    // The third leak: the key has the round, so nothing is found again.
    if (round % 4 == 0) pictures.set("avatar " + round.toString(), new Picture("avatar", 64));
    player.open = false;
  }
}

export function collect(): void {
  __collect();
}
