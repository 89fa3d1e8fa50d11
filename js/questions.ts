/** Checks the questions of the class `Heap`, and brings them into the form that the engine reads. */
import { bytes } from "./bytes.js";
import { invalidArgument } from "./errors.js";
import { QUESTIONS } from "./generated/options.js";
import { checkOf, checksOf, invalidOption, type OptionFacts, typed } from "./option_facts.js";
import { type Mode, readOptions } from "./options.js";

/** A question, and the earlier heap for a comparison. */
export interface Asked {
  question: { question: string } & Record<string, unknown>;
  before?: unknown;
}

type Name = keyof typeof QUESTIONS;

/** A question with these options. */
export function asked(question: Name, options?: unknown, mode: Mode = "sync"): Asked {
  const { before, ...read } = readOptions(options, optionsOf(question), mode);
  if (question === "object" && read.offset !== undefined && read.entries === undefined) {
    throw invalidOption("option offset: it needs the option entries, whose first page it moves");
  }
  return { question: { question, ...read }, before };
}

/** How the arguments of a method become a question, and which of them has the options. */
interface AskingMethod {
  read(given: unknown[], mode: Mode): Asked;
  options: number;
}

function ofHeap(question: Name): AskingMethod {
  return { read: ([options], mode) => asked(question, options, mode), options: 0 };
}

/** Of a question about the object at an address. */
function ofObject(name: Name): AskingMethod {
  const read: AskingMethod["read"] = ([at, options], mode) => {
    const { question } = asked(name, options, mode);
    return { question: { ...question, address: address(at) } };
  };
  return { read, options: 1 };
}

/** The methods that ask a question. */
export const METHODS: Record<string, AskingMethod> = {
  find: ofHeap("find"),
  object: ofObject("object"),
  referrers: ofObject("referrers"),
  paths: { read: ([target, options], mode) => paths(target, options, mode), options: 1 },
  dominators: ofHeap("dominators"),
  suspects: ofHeap("suspects"),
  waste: ofHeap("waste"),
  unreachable: ofHeap("unreachable"),
};

function paths(target: unknown, options: unknown, mode: Mode): Asked {
  const { question } = asked("paths", options, mode);
  if (typeof target === "number") return { question: { ...question, objects: [address(target)] } };
  if (typeof target !== "object" || target === null) {
    throw invalidArgument("target", "an address, or an object with a target", target);
  }
  const targets = select("paths", ({ isTarget }) => isTarget === true);
  const chosen = readOptions(target, checksOf(targets), "sync");
  const given = Object.keys(chosen);
  if (given.length !== 1) {
    throw invalidOption(
      `the target of paths: found ${given.length === 0 ? "nothing" : given.join(" and ")}; ` +
        `expected exactly one of ${Object.keys(targets).join(", ")}`,
    );
  }
  const { newSince, ...direct } = chosen;
  if (newSince === undefined) return { question: { ...question, ...direct } };
  return { question: { ...question, newSince: true }, before: newSince };
}

export function report(options: unknown, mode: Mode): Asked {
  const checks = { ...BEFORE, strings: typed("boolean") };
  const { before } = readOptions(options, checks, mode);
  return { question: { question: "report" }, before };
}

/** What `sites` compares, and the part of the lines that is wanted. */
export function sites(options: unknown, mode: Mode) {
  const checks = { profile: bytes, ...BEFORE, beforeProfile: bytes, ...optionsOf("waste") };
  const read = readOptions(options, checks, mode);
  const { profile, before, beforeProfile, limit = 20, offset = 0 } = read;
  if (before === undefined && beforeProfile !== undefined) {
    throw invalidOption("option beforeProfile: it needs the option before, the heap of its moment");
  }
  if (before !== undefined && (profile === undefined) !== (beforeProfile === undefined)) {
    throw invalidOption(
      "one of the two moments has no profile: expected both profile and beforeProfile, or neither for snapshots of V8",
    );
  }
  return {
    profile: profile as Uint8Array | undefined,
    before,
    beforeProfile: beforeProfile as Uint8Array | undefined,
    limit: limit as number,
    offset: offset as number,
  };
}

const BEFORE = { before: checkOf({ type: "heap" }) };

function optionsOf(question: Name) {
  return checksOf(select(question, ({ isTarget, isRequired }) => !isTarget && !isRequired));
}

function select(question: Name, isWanted: (facts: OptionFacts) => boolean) {
  const wanted = Object.entries(QUESTIONS[question].options).filter(([, one]) => isWanted(one));
  return Object.fromEntries(wanted);
}

function address(value: unknown): unknown {
  return checkOf(QUESTIONS.object.options.address as OptionFacts)("address", value);
}
