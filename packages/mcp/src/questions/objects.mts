/** Single objects, what refers to them, why they are alive, and what they keep alive. */
import type {
  Branch,
  ContainerPage,
  Edge,
  FindAnswer,
  FindOptions,
  FoundGroup,
  HeldValue,
  MergedPathsAnswer,
  More,
  ObjectAnswer,
  ObjectOptions,
  PathAnswer,
  PathsOptions,
} from "@warpo/heap-analyzer";
import { QuestionError } from "../../../../js/served/errors.ts";
import * as questions from "../../../../js/served/questions/objects.ts";
import {
  cutText,
  edgeText,
  formatCount,
  formatSize,
  inWords,
  named,
  pathLines,
  rootText,
  sizes,
  withFunction,
} from "../lines.mts";
import { asking, question, watched } from "../question.mts";
import * as s from "../schema.mts";

type Bare<A> = Omit<A, "schemaVersion" | "partial" | "warnings">;
type OnePath = Bare<PathAnswer>;
type MergedPathsShape = Bare<MergedPathsAnswer>;
interface ObjectParameters extends s.AskedOptions<Pick<ObjectOptions, "entries">> {
  address: number | string;
  entriesOffset: number;
}
interface PathsParameters extends s.AskedOptions<PathsOptions> {
  class: string | undefined;
  newSince: string | undefined;
}

/** What is said of an object, in the order in which agents get it. */
const DESCRIBED = [
  "address",
  "addressText",
  "className",
  "state",
  "shallowSize",
  "retainedSize",
  "retainedParts",
  "possibleHolders",
  "pinnedBy",
  "dominator",
  "roots",
  "preview",
  "fields",
] as const;

/** What is said of the objects for which a condition is neither true nor false. */
function leftOut({
  withoutField,
  failed,
}: {
  withoutField: number;
  failed: { reason: string; count: number }[];
}): string[] {
  const lines =
    withoutField === 0
      ? []
      : [`Not counted: ${formatCount(withoutField)} without a field of the condition.`];
  const others = failed.map(
    ({ reason, count: many }) => `Not counted: ${formatCount(many)}, because ${reason}.`,
  );
  return [...lines, ...others];
}

export const find = question({
  name: "find",
  title: "Find objects",
  description:
    "Which live objects are of a class, of at least a size, contain some text, or meet a condition over their fields? Lists addresses, sizes and previews, the largest retained size first; or counts them, adds them up, and groups them.",
  basis: "All live objects were searched.",
  input: {
    heap: s.heap,
    ...s.parameters<s.AskedOptions<FindOptions>>("find"),
  },
  output: {
    found: s.count,
    ...s.fields<FindAnswer, "where" | "sum">("FindAnswer", "where", "sum"),
    groups: s.optional(s.list(s.typeNamed<FoundGroup>("FoundGroup"))),
    ...s.fields<FindAnswer, "objects">("FindAnswer", "objects"),
  },
  isPaged: true,
  async ask({ heap: handle, before, ...wanted }, context) {
    return await asking(context, { heap: handle, before }, (open, earlier) =>
      questions.find(open, { ...wanted, before: earlier }, watched(context)),
    );
  },
  render({ found, where, sum, groups, objects }) {
    return [
      `${formatCount(found)} objects.`,
      ...(where === undefined ? [] : leftOut(where)),
      ...(sum === undefined
        ? []
        : [`Sum of the ${sum.size} sizes: ${inWords(sum.bytes, sum.parts)}.`]),
      ...(groups ?? []).map(({ text, count: many, bytes, parts }) => {
        const sum = bytes === undefined ? "" : `, ${inWords(bytes, parts)}`;
        return `${text}: ${formatCount(many)}${sum}`;
      }),
      ...(objects.length === 0 ? [] : ["Object: retained size, preview."]),
      ...objects.map(
        (one) => `${named(one.className, one.addressText)}: ${sizes(one)}, ${short(one.preview)}`,
      ),
    ];
  },
});

export const object = question({
  name: "object",
  title: "One object",
  description:
    "What is at this address, and what refers to it? Class, sizes, fields, contents, dominator, entries, and a page of the references to it. For why it is alive ask paths.",
  basis:
    "Fields are read from the dump; a reference is independent if it alone keeps the object reachable.",
  input: {
    heap: s.heap,
    ...s.parameters<ObjectParameters>("object"),
    ...s.page,
  },
  output: {
    ...s.fields<ObjectAnswer, (typeof DESCRIBED)[number]>("ObjectAnswer", ...DESCRIBED),
    entries: s.nullable(s.typeNamed<ContainerPage>("ContainerPage")),
    ...s.fields<ObjectAnswer, "distance">("ObjectAnswer", "distance"),
    referrers: s.list(s.typeNamed<Edge>("edge")),
  },
  isPaged: true,
  async ask({ heap: handle, ...wanted }, context) {
    return await asking(context, { heap: handle }, (open) =>
      questions.object(open, wanted, watched(context)),
    );
  },
  render(one) {
    return [
      `${named(one.className, one.addressText)}, ${one.state}: ${formatSize(one.shallowSize)}, retains ${sizes(one)}`,
      ...(one.preview === null ? [] : [one.preview]),
      ...one.fields.map(
        ({ name, type, value, functionName }) =>
          `  ${name}: ${type} = ${withFunction(short(String(value)), functionName)}`,
      ),
      ...entryLines(one.entries),
      one.dominator === null
        ? "No object dominates it."
        : `Dominator: ${named(one.dominator.className, one.dominator.addressText)}`,
      ...(one.roots.length === 0 ? [] : [`Roots: ${one.roots.map(rootText).join(", ")}`]),
      ...(one.possibleHolders?.slots ?? []).map(
        ({ className, addressText, labelText, hits, values }) =>
          `Possible holder, not followed: ${className}${labelText} of ${addressText} (${hits} of ${values} values)`,
      ),
      ...(one.pinnedBy === undefined ? [] : [`Pinned by ${one.pinnedBy.join(" < ")}`]),
      ...one.referrers.map((edge) => `Referred to by ${edgeText(edge)}`),
    ];
  },
});

export const paths = question({
  name: "paths",
  title: "Why alive",
  description:
    "Why is it alive, and which reference must be cut to free it? For one object (address), for all objects of a class (class), or for the objects that are new since an earlier dump of the same build (newSince). Give exactly one of the three.",
  basis: "The path is a shortest one from a root, from a global if one reaches the object.",
  input: {
    heap: s.heap,
    address: s.optional(s.address),
    ...s.parameters<PathsParameters>("paths"),
  },
  output: {
    object: s.nullable(s.object(s.fields<OnePath>("PathAnswer"))),
    merged: s.nullable(s.object(s.fields<MergedPathsShape>("MergedPathsAnswer"))),
  },
  async ask({ heap: handle, address: at, class: wanted, newSince, limit }, context) {
    const given = [at, wanted, newSince].filter((one) => one !== undefined);
    if (given.length !== 1) {
      throw new QuestionError(
        "ERR_INVALID_OPTION",
        `paths takes exactly one of address, class and newSince: found ${given.length}`,
      );
    }
    return await asking(context, { heap: handle, before: newSince }, async (open, before) => {
      const options = { limit, ...watched(context) };
      if (at !== undefined) {
        const { body, ...rest } = await questions.pathsOf(open, at, options);
        return { ...rest, body: { object: body, merged: null } };
      }
      const target = before === undefined ? { class: wanted as string } : { newSince: before };
      const found = await open.pathsAsync(target, options);
      const { schemaVersion, warnings, partial, ...body } = found;
      return { body: { object: null, merged: body }, warnings, partial };
    });
  },
  render({ object: one, merged }) {
    if (merged !== null) {
      return [
        `${formatCount(merged.count)} objects, ${inWords(merged.shallowSize, merged.shallowParts)}, retain ${inWords(merged.retainedSetSize, merged.retainedSetParts)}; removing all frees ${inWords(merged.freedByRemovingAll, merged.freedParts)}`,
        ...merged.tree.flatMap((one) => branchLines(one, 0)),
        ...moreLines(merged.more, 0),
      ];
    }
    if (one === null) return [];
    const { total, edges } = one.independentReferrers;
    return [
      `${named(one.className, one.addressText)}, ${one.state}: ${formatSize(one.shallowSize)}, retains ${sizes(one)}`,
      ...pathLines(one.path),
      `Independent references: ${formatCount(total)}. ${edges.map(edgeText).join("; ")}`,
      `Cutting all of them frees ${formatSize(one.freedByCuttingAll)}.`,
      ...(one.cut === null ? [] : [cutText(one.cut)]),
      ...(one.freedAfterReturn === null
        ? []
        : [
            `After the running functions have returned, it frees ${formatSize(one.freedAfterReturn)}.`,
          ]),
    ];
  },
});

function branchLines(one: Branch, depth: number): string[] {
  const by = one.root !== null ? `${rootText(one.root)} ` : `${(one.labelText ?? "").trim()} `;
  const line = `${"  ".repeat(depth)}${by}${one.className}${one.folded ? " …" : ""}: ${formatCount(one.count)}, ${formatSize(one.shallowSize)}`;
  return [
    line,
    ...one.children.flatMap((child) => branchLines(child, depth + 1)),
    ...moreLines(one.more, depth + 1),
  ];
}

function moreLines(rest: More | null, depth: number): string[] {
  if (rest === null) return [];
  return [
    `${"  ".repeat(depth)}(${formatCount(rest.branches)} more branches: ${formatCount(rest.count)} objects, ${formatSize(rest.shallowSize)})`,
  ];
}

export const dominators = question({
  name: "dominators",
  title: "What it keeps alive",
  description:
    "What does only this object keep alive? The objects that it immediately dominates, by retained size; without an address, the largest of the whole heap. With by: class, grouped by class.",
  basis: "The dominator tree of all live references.",
  input: {
    heap: s.heap,
    address: s.optional(s.address),
    by: s.usually(s.choice("object", "class"), "object"),
    ...s.page,
  },
  output: questions.DOMINATORS,
  isPaged: true,
  async ask({ heap: handle, ...wanted }, context) {
    return await asking(context, { heap: handle }, (open) =>
      questions.dominators(open, wanted, watched(context)),
    );
  },
  render({ addressText: at, children }) {
    return [
      `${at ?? "The heap"} immediately dominates:`,
      ...children.map((one) => {
        const times = one.address === null ? `${formatCount(one.count)}, ` : "";
        return `${named(one.className, one.addressText)}: ${times}retains ${sizes(one)}`;
      }),
    ];
  },
});

function entryLines(page: ContainerPage | null): string[] {
  if (page === null) return [];
  const text = ({ value, functionName }: HeldValue) =>
    withFunction(short(String(value)), functionName);
  return [
    `Entries (${page.kind}): ${formatCount(page.entries.length)} of ${formatCount(page.total)}, from ${formatCount(page.offset)} on`,
    ...page.entries.map(({ name, key, value }) => {
      const before = name ?? (key === null ? undefined : text(key));
      return `  ${before === undefined ? "" : `${before}: `}${text(value)}`;
    }),
  ];
}

/** A preview for a line of a list. */
function short(text: string | null): string {
  if (text === null) return "no preview";
  return text.length > 100 && !text.includes("\u27ea") ? `${text.slice(0, 100)}…` : text;
}
