/** The analyzer disagrees with the collector. */
export class Disagreement extends Error {}
