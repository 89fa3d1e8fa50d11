/** The file of a report: one HTML page with its script, its style and its data, which loads nothing. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { Warning } from "../index.js";

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
export function reportFile(answer: string): string {
  const { partial, warnings, strings, shortNames, body } = JSON.parse(answer) as ReportData;
  const data: ReportData = {
    version,
    partial,
    warnings: warnings.slice(0, WARNINGS).map(({ code, message }) => ({
      code,
      message: message.length > MESSAGE ? `${message.slice(0, MESSAGE)}…` : message,
    })),
    moreWarnings: Math.max(0, warnings.length - WARNINGS),
    strings,
    shortNames,
    body,
  };
  const compressed = deflateRawSync(JSON.stringify(data), { level: 9 }).toString("base64");
  const { script, style } = pageParts();
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
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
<script type="application/octet-stream" id="data">${compressed}</script>
<script>${script}</script>
</body>
</html>
`;
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
