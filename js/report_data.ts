/** The data of a report, which the page reads. */
import type { Warning } from "../index.js";
import { hidden } from "./explorer/without_strings.js";
import { version } from "./version.js";

/** Warnings that the page shows. */
const WARNINGS = 50;
/** Characters of a warning that it shows. */
const MESSAGE = 1000;

/** What the page reads. */
export interface ReportData {
  /** The version of this package. */
  version: string;
  partial: boolean;
  warnings: Warning[];
  /** How many warnings are not shown. */
  moreWarnings: number;
  /** The texts of the body. */
  strings: string[];
  /** The short forms of names, by the number of the text. */
  shortNames: [number, string][];
  /** What the engine answered; its strings are the numbers of texts. */
  body: unknown;
}

/** What the page reads of an answer of the engine. Paths of this machine become names of files. */
export function reportData(answer: string, hasStrings: boolean): ReportData {
  const { partial, warnings, strings, shortNames, body } = JSON.parse(answer) as ReportData;
  const { dump, before } = body as { dump: string; before: string | null };
  const paths = [dump, before].filter((text) => text !== null).map(Number);
  const files = paths.map((place) => strings[place] as string);
  const withoutFolders = (message: string) =>
    files.reduce((text, path) => text.replaceAll(path, fileName(path)), message);
  const shown = strings.map((text, place) => {
    if (paths.includes(place)) return fileName(text);
    return hasStrings ? text : hidden(text);
  });
  return {
    version,
    partial,
    warnings: warnings.slice(0, WARNINGS).map(({ code, message }) => {
      const text = withoutFolders(message);
      return { code, message: text.length > MESSAGE ? `${text.slice(0, MESSAGE)}…` : text };
    }),
    moreWarnings: Math.max(0, warnings.length - WARNINGS),
    strings: shown,
    shortNames: shortNames.map(([place, name]) => [place, hasStrings ? name : hidden(name)]),
    body,
  };
}

function fileName(path: string): string {
  return path.slice(path.search(/[^\\/]*$/));
}
