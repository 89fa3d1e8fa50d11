/** The file of a report: one HTML page with its script, its style and its data, which loads nothing. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { type ReportData, reportData } from "./report_data.js";

/** The page that shows an answer of the engine, given as JSON. */
export function reportFile(answer: string, hasStrings = true): string {
  return pageFile(reportData(answer, hasStrings)).html;
}

/**
 * The page, and its content security policy. Without data it asks the server that it came from, and nothing else.
 */
export function pageFile(data: ReportData | undefined): { html: string; policy: string } {
  return data === undefined
    ? page("", { connect: "'self'" })
    : page(packedElement("data", Buffer.from(JSON.stringify(data))));
}

/** The page with the engine inside, which opens files itself: it connects to nothing. */
export function appFile(engine: { module: Buffer; worker: Buffer }): string {
  const parts = packedElement("module", engine.module) + packedElement("worker", engine.worker);
  return page(parts, { script: " 'wasm-unsafe-eval'", worker: "blob:", connect: "'none'" }).html;
}

/** What the page may do beside showing itself, in the words of its policy. */
interface Allowed {
  script?: string;
  worker?: string;
  connect?: string;
}

function page(
  elements: string,
  { script: more = "", worker, connect }: Allowed = {},
): { html: string; policy: string } {
  const { script, style } = pageParts();
  const rules = [
    "default-src 'none'",
    `script-src '${hash(script)}'${more}`,
    `style-src '${hash(style)}'`,
    ...(worker === undefined ? [] : [`worker-src ${worker}`]),
    ...(connect === undefined ? [] : [`connect-src ${connect}`]),
    "base-uri 'none'",
    "form-action 'none'",
  ];
  const policy = rules.join("; ");
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
${elements}<script>${script}</script>
</body>
</html>
`;
  return { html, policy: `${policy}; frame-ancestors 'none'` };
}

/** What the script reads, compressed. */
function packedElement(id: string, bytes: Buffer): string {
  const packed = deflateRawSync(bytes, { level: 9 }).toString("base64");
  return `<script type="application/octet-stream" id="${id}">${packed}</script>\n`;
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
