/** Class names in which `*` stands for any text and `?` for one character, as in the analyzer's own options. */
export function matcher(pattern: string): (name: string) => boolean {
  // Not a regular expression: one with many stars can take time beyond any bound.
  const wanted = [...pattern];
  return (name) => {
    const text = [...name];
    let at = 0;
    let star = -1;
    let resume = 0;
    let next = 0;
    while (at < text.length) {
      if (wanted[next] === "*") {
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
    while (wanted[next] === "*") next++;
    return next === wanted.length;
  };
}
