/** The analyzer disagrees with the collector. */
export class Disagreement extends Error {}

/** The numbers are right, but a warning doubts them. */
export class FalseAlarm extends Disagreement {}
