// The place tables of the dumps that `watch` has taken. A table is small and needs no dump, so a program can be
// watched for days.

/** The most tables after the warm-up. Each makes a comparison slower, and says little that its neighbours do not. */
const MOST_TABLES = 64;

/** Tables in the order of their time. */
export class KeptTables<T> {
  readonly #warmup: number;
  #tables: T[] = [];
  #taken = 0;
  /** Every such table is kept. */
  #step = 1;

  /** @param warmup how many of the first tables do not count. They are all kept. */
  constructor(warmup: number) {
    this.#warmup = warmup;
  }

  /**
   * Adds the next table. If there are too many, every second one after the warm-up is left out: what rises from each
   * table to the next still does. The first and the last table stay.
   */
  add(table: T): void {
    const counted = this.#taken++ - this.#warmup;
    // The last table may lie between two steps. It is replaced by the next one.
    if (this.#isBetween(counted - 1)) this.#tables.pop();
    this.#tables.push(table);
    if (this.#tables.length - this.#warmup <= MOST_TABLES) return;
    this.#step *= 2;
    this.#tables = this.#tables.filter((_, nth) => {
      const place = nth - this.#warmup;
      return place < 0 || place % 2 === 0 || nth === this.#tables.length - 1;
    });
  }

  #isBetween(counted: number): boolean {
    return counted > 0 && counted % this.#step !== 0;
  }

  get tables(): readonly T[] {
    return this.#tables;
  }

  /** How many tables count. */
  get counted(): number {
    return Math.max(0, this.#tables.length - this.#warmup);
  }
}
