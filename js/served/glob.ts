/** Class names with wildcards, as in the option `class` of the engine: a test compares both. */

/** Whether a class is meant: one whose whole name fits, or if there is none, the only one whose name ends so. */
export function chooser(pattern: string, names: readonly string[]): (name: string) => boolean {
  const fits = matcher(pattern);
  if (/[*?…]/.test(pattern) || pattern === "" || names.some(fits)) return fits;
  const [only, ...others] = new Set(names.filter((name) => endsWithParts(name, pattern)));
  return others.length === 0 ? (name) => name === only : fits;
}

/** Whether a name is another with its module or namespaces before it. Those of type arguments do not count. */
function endsWithParts(name: string, parts: string): boolean {
  const before = name.slice(0, -parts.length);
  if (name.endsWith(parts) && /[/:.]$/.test(before) && !before.includes("<")) return true;
  const [plain = ""] = name.split("<", 1);
  return name.slice(plain.lastIndexOf("/") + 1) === parts;
}

/** `*` stands for any text, as `…` does, which tables put in its place; `?` for one character. */
function matcher(pattern: string): (name: string) => boolean {
  // Not a regular expression: one with many stars can take time beyond any bound.
  const wanted = [...pattern];
  return (name) => {
    const text = [...name];
    let at = 0;
    let star = -1;
    let resume = 0;
    let next = 0;
    while (at < text.length) {
      if (isAny(wanted[next])) {
        star = next++;
        resume = at;
      } else if (next < wanted.length && (wanted[next] === "?" || wanted[next] === text[at])) {
        next++;
        at++;
      } else if (star >= 0) {
        next = star + 1;
        at = ++resume;
      } else {
        return false;
      }
    }
    while (isAny(wanted[next])) next++;
    return next === wanted.length;
  };
}

function isAny(character: string | undefined): boolean {
  return character === "*" || character === "…";
}
