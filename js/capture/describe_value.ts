// Names a value in the words of an error message.

/** What kind of value this is: "a number", "null", "an ArrayBuffer", "a Promise", … */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const type = typeof value;
  if (type !== "object") return withArticle(type);
  const name = tagOf(value);
  if (name !== "Object") return withArticle(name);
  return "a plain object";
}

/** The name of a built-in class, also of an object from another realm: "Promise", "WebAssembly.Module". */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

function withArticle(noun: string): string {
  return /^[aeio]/i.test(noun) ? `an ${noun}` : `a ${noun}`;
}
