/** The analyzer says something else than the collector. */
export class Disagreement extends Error {}
