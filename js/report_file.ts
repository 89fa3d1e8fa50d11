/** The file of a report: one HTML page with its script, its style and its data, which loads nothing. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { Warning } from "../index.js";
import { hidden } from "./explorer/without_strings.js";

const { version } = require("../package.json") as { version: string };

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

/** The page that shows an answer of the engine, given as JSON. */
export function reportFile(answer: string, hasStrings = true): string {
  return pageFile(reportData(answer, hasStrings)).html;
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

/**
 * The page, and its content security policy. Without data it asks the server that it came from, and nothing else.
 */
export function pageFile(data: ReportData | undefined): { html: string; policy: string } {
  const { script, style } = pageParts();
  const connect = data === undefined ? "connect-src 'self'; " : "";
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; ${connect}base-uri 'none'; form-action 'none'`;
  const html = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Heap report</title>
<style>${style}</style>
</head>
<body>
<noscript>This report is shown by a script in this file, and scripts are turned off.</noscript>
${data === undefined ? "" : dataElement(data)}<script>${script}</script>
</body>
</html>
`;
  return { html, policy: `${policy}; frame-ancestors 'none'` };
}

function dataElement(data: ReportData): string {
  const compressed = deflateRawSync(JSON.stringify(data), { level: 9 }).toString("base64");
  return `<script type="application/octet-stream" id="data">${compressed}</script>\n`;
}

let parts: { script: string; style: string } | undefined;

/** The script and the style, which the build has put beside this file. */
function pageParts(): { script: string; style: string } {
  const read = (name: string) => readFileSync(join(__dirname, name), "utf8");
  parts ??= { script: read("report_page.js"), style: read("report_page.css") };
  return parts;
}

/** The hash by which the policy knows an element's text. */
function hash(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
