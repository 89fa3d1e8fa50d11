/** The codes of errors and warnings with what they mean, as the tables of `docs/errors.md` say: `codes.d.ts`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const HEAD = `/** The codes of errors and warnings. \`docs/errors.md\` also says what to do. */
// Written by \`just generate\` from that page: change it there.
`;

/** Sections whose codes functions of the package do not throw. */
const OF_SERVERS = "The servers for agents and editors";
/** Of the compiler's transform, whose errors have a class of their own. */
const OF_TRANSFORM = "ERR_DEBUG_INFO_DESCRIPTION";

type Row = [codes: string, meaning: string];

export function codes(): string {
  const page = readFileSync(join(import.meta.dirname, "../../docs/errors.md"), "utf8");
  const sections = page.split("\n## ").slice(1);
  const rows = sections.filter((text) => !text.startsWith(OF_SERVERS)).flatMap(rowsOf);
  const isWarning = ([codes]: Row) => codes.startsWith("`WARN_");
  return [
    HEAD,
    "/** The `code` of an error: what stopped an analysis or a capture. */\n",
    union(
      "ErrorCode",
      "",
      rows.filter((row) => !isWarning(row)),
    ),
    "\n/** The `code` of a warning: why a number may be wrong. Each says which live sizes and counts are affected. */\n",
    union("WarningCode", "Live sizes and counts: ", rows.filter(isWarning)),
  ].join("");
}

function rowsOf(section: string): Row[] {
  const lines = section.matchAll(/^\| (`[A-Z].*?) \| (.*?) \|/gm);
  return [...lines].map(([, codes, meaning]) => [String(codes), String(meaning)]);
}

function union(name: string, before: string, rows: Row[]): string {
  const members = rows.flatMap(([codes, meaning]) => {
    const text = `${before}${meaning.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")}`;
    const shown = before === "" ? `${text[0]?.toUpperCase()}${text.slice(1)}` : text;
    const names = [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code);
    const thrown = names.filter((code) => code !== OF_TRANSFORM);
    return thrown.map((code) => `  /** ${shown}. */\n  | "${code}"`);
  });
  return `export type ${name} =\n${members.join("\n")};\n`;
}
