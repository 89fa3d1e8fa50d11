/** A transform for `asc` that inserts a call to the host before every store. */
export default class CallHostAtStores {
  /** @param {{ runPasses(passes: string[]): void }} module */
  afterCompile(module) {
    module.runPasses(["instrument-memory"]);
  }
}
