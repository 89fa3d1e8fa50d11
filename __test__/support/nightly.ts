/** What each change tests, and what every night tests (`npm run test:full -- variants`). */

const IS_NIGHT = process.env.TEST_ALL === "1";

/** A number of rounds: every night, and of each change. */
export function rounds(night: number, change: number): number {
  return IS_NIGHT ? night : change;
}

/** Every night all of a list; of each change every `nth`, from `first` on. */
export function someOf<T>(all: readonly T[], nth: number, first = 0): T[] {
  return all.filter((_, at) => IS_NIGHT || at % nth === first % nth);
}
