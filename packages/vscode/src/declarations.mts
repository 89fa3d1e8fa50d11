/** Where classes, fields and variables are declared in a text of AssemblyScript, TypeScript or JavaScript. Lines are from 0. */

export interface Declaration {
  name: string;
  line: number;
}

const CLASS =
  /^\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:(?:export|default|declare|abstract|final)\s+)*class\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/u;
const MODIFIERS = "(?:(?:public|private|protected|static|readonly|override|declare)\\s+)*";

/** The classes of a text. */
export function classesIn(text: string): Declaration[] {
  return text.split("\n").flatMap((content, line) => {
    const name = CLASS.exec(content)?.[1];
    return name === undefined ? [] : [{ name, line }];
  });
}

/** The line of a class; of several with its name, the last one that is not after the line of its constructor. */
export function classLine(
  text: string,
  name: string,
  constructorLine?: number,
): number | undefined {
  const found = classesIn(text).filter((one) => one.name === name);
  const before = found.filter(({ line }) => line <= (constructorLine ?? Number.POSITIVE_INFINITY));
  return (before.at(-1) ?? found[0])?.line;
}

/** The line of a field of the class that begins at a line: its declaration, or the first value that it is given. */
export function fieldLine(text: string, start: number, field: string): number | undefined {
  const name = literal(field);
  const declared = new RegExp(`^\\s*${MODIFIERS}#?${name}\\s*[?!]?\\s*[:=;]`);
  const parameter = new RegExp(`(?:public|private|protected|readonly)\\s+${name}\\s*[?:]`);
  const given = new RegExp(`\\bthis\\.#?${name}\\s*=[^=]`);
  const lines = text.split("\n");
  const next = classesIn(text).find(({ line }) => line > start)?.line ?? lines.length;
  for (const form of [declared, parameter, given]) {
    const at = lines.slice(start, next).findIndex((line) => form.test(line));
    if (at >= 0) return start + at;
  }
  return undefined;
}

/** The line of a variable of a module. */
export function variableLine(text: string, variable: string): number | undefined {
  const form = new RegExp(`^(?:export\\s+)?(?:const|let|var)\\s+${literal(variable)}\\b`);
  const at = text.split("\n").findIndex((line) => form.test(line));
  return at < 0 ? undefined : at;
}

/** The name of a class as it is declared: `Page` of `assembly/server/Page<~lib/string/String>`. */
export function declaredName(className: string): string {
  const [bare = ""] = className.split(/[<(]/, 1);
  return /[^/.]*$/.exec(bare)?.[0] ?? bare;
}

function literal(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
