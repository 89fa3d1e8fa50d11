/**
 * A check as SARIF 2.1.0, for code scanning: a result for each growing place and each broken budget. Its
 * location is the module, its code flow the path on which the objects are alive.
 */
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import type {
  Location,
  ReportingDescriptor,
  Result,
  ThreadFlowLocation,
  ToolComponent,
} from "sarif";
import type { CheckAnswer, CheckedRule, GrowingPlace } from "../../index.js";
import { findings, growth, shown, steps } from "./findings.js";
import { isAboutGrowth, ruleKind, ruleState, ruleTitle } from "./rules.js";
import { codePlace } from "./source_place.js";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

const PROJECT = "https://github.com/warpo/heap-analyzer";
const HELP = `${PROJECT}/blob/main/docs/test-for-leaks.md#a-gate-in-your-pipeline`;

/** What a rule of each kind finds. */
const DESCRIPTIONS: Record<string, string> = {
  growth: "The number or the size of the objects at a place rises from dump to dump.",
  "no-growth": "There are more live objects of a class in the last dump than in the first.",
  "max-growth": "The live size grows by more than its budget from the first to the last dump.",
  "max-live": "The live size is larger than its budget.",
  max: "There are more live objects of a class than its budget allows.",
};

/** The document in pieces: a result each. */
export function* sarif(answer: CheckAnswer, file: string, version: string): Generator<string> {
  const kinds = [...new Set(answer.rules.map(ruleKind))];
  const driver: ToolComponent = {
    name: "warpo-heap-analyzer",
    version,
    informationUri: PROJECT,
    rules: kinds.map(descriptor),
  };
  const head = { $schema: SCHEMA, version: "2.1.0" };
  yield `${JSON.stringify(head).slice(0, -1)},"runs":[{"tool":${JSON.stringify({ driver })},"results":[`;
  let separator = "\n";
  for (const result of results(answer, uri(file), kinds)) {
    yield `${separator}${JSON.stringify(result)}`;
    separator = ",\n";
  }
  yield `\n],"columnKind":"utf16CodeUnits"}]}\n`;
}

/** A rule, with all that code scanning demands. */
function descriptor(id: string): ReportingDescriptor {
  const description = { text: DESCRIPTIONS[id] ?? id };
  return {
    id,
    name: `Heap-${id}`.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: description,
    fullDescription: description,
    helpUri: HELP,
    help: { text: `${description.text} See ${HELP}` },
    defaultConfiguration: { level: "error" },
  };
}

function* results(answer: CheckAnswer, module: string, kinds: string[]): Generator<Result> {
  // Several rules may be about a place. It is a result of the first.
  const reported = new Set<GrowingPlace>();
  for (const { rule, places } of findings(answer)) {
    const kind = ruleKind(rule);
    const common = { ruleId: kind, ruleIndex: kinds.indexOf(kind), level: "error" } as const;
    if (!isAboutGrowth(rule)) yield { ...common, ...budgetResult(rule, module) };
    for (const place of places) {
      if (reported.has(place)) continue;
      reported.add(place);
      yield { ...common, ...placeResult(place, module) };
    }
  }
}

function budgetResult(rule: CheckedRule, module: string): Result {
  return {
    message: { text: message(`Expected: ${ruleTitle(rule)}; ${ruleState(rule)}.`) },
    locations: [location(module)],
    partialFingerprints: { "rule/v1": rule.rule.slice(0, 1000) },
  };
}

function placeResult(place: GrowingPlace, module: string): Result {
  const names = steps(place);
  const locations: ThreadFlowLocation[] = names.map((name) => ({
    location: { ...location(module, name), message: { text: message(name) } },
  }));
  return {
    message: { text: message(`${growth(place)}. Kept alive by ${names.join(" > ")}.`) },
    locations: [codeLocation(place) ?? location(module, shown(place.className))],
    partialFingerprints: { "retentionPath/v1": place.fingerprint },
    codeFlows: [{ threadFlows: [{ locations }] }],
    properties: {
      counts: place.counts,
      bytes: place.bytes,
      perInterval: place.perInterval,
      stable: place.stable,
    },
  };
}

/** The line of the constructor, if it is in the repository. */
function codeLocation(place: GrowingPlace): Location | undefined {
  const code = codePlace(place);
  if (code === undefined) return undefined;
  return {
    physicalLocation: {
      artifactLocation: { uri: uri(code.file) },
      region: { startLine: code.line, startColumn: code.column },
    },
    logicalLocations: [{ fullyQualifiedName: shown(place.className) }],
  };
}

/** A place in the module. Code scanning expects a line; a module has only one. */
function location(module: string, name?: string): Location {
  return {
    physicalLocation: { artifactLocation: { uri: module }, region: { startLine: 1 } },
    ...(name === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: name }] }),
  };
}

/** A path as a URI: relative to where the command runs, or absolute. */
function uri(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  const slashes = process.platform === "win32" ? file.replaceAll("\\", "/") : file;
  const encoded = slashes.split("/").map(encodeURIComponent).join("/");
  return encoded.replace(/^\/+/, "");
}

/**
 * A text that a viewer shows as it is. In a SARIF message braces enclose placeholders, and brackets before
 * a parenthesis a link.
 */
function message(text: string): string {
  return text.replace(/[{}]/g, "$&$&").replaceAll("](", "] (");
}
