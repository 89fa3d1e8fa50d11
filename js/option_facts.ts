/** Checks the values of options by what their schemas say. */
import { invalidArgument } from "./errors.js";
import { type Check, invalidOption, typed, wholeNumber } from "./options.js";

/** What is known of an option. */
export interface OptionFacts {
  /** `heap` for an earlier one; `other` has a check of its own. */
  type: "string" | "boolean" | "integer" | "number" | "array" | "object" | "heap" | "other";
  /** All texts that it can be. */
  values?: readonly string[];
  minimum?: number;
  /** It is greater than this. */
  above?: number;
  maximum?: number;
  /** Of an array. */
  items?: OptionFacts;
  /** Flags in the command line, a colon, and help. */
  cli?: string;
  /** One of several targets, of which a question has one. */
  isTarget?: true;
  /** It is no option, but an argument. */
  isRequired?: true;
}

/** What is known of a command and its options. */
export interface CommandFacts {
  about: string;
  takes?: readonly ("profile" | "host")[];
  modules?: "one or two" | "many";
  options: Record<string, OptionFacts>;
}

/** A check for each option, with those of its own in place of the generic ones. */
export function checksOf(
  options: Record<string, OptionFacts>,
  own: Record<string, Check> = {},
): Record<string, Check> {
  const checks = Object.entries(options).map(([name, facts]) => [
    name,
    own[name] ?? checkOf(facts),
  ]);
  return Object.fromEntries(checks);
}

/** A check of a value. */
export function checkOf(facts: OptionFacts): Check {
  const { type, values, minimum = 0, above, maximum, items } = facts;
  if (values !== undefined) return oneOf(values);
  switch (type) {
    case "string":
    case "boolean":
      return typed(type);
    case "integer":
      return wholeNumber(minimum, maximum);
    case "number":
      return fraction(above ?? 0, maximum ?? 1);
    case "array":
      return list(
        items?.type === "integer" ? "addresses" : "strings",
        checkOf(items as OptionFacts),
      );
    default:
      return (_, value) => value;
  }
}

function oneOf(values: readonly string[]): Check {
  return (name, value) => {
    if (values.some((known) => known === value)) return value;
    if (typeof value !== "string") throw invalidArgument(name, "a string", value);
    throw invalidOption(`${name}: found ${value.slice(0, 100)}; expected ${values.join(", ")}`);
  };
}

function fraction(above: number, most: number): Check {
  return (name, value) => {
    if (typeof value !== "number") throw invalidArgument(name, "a number", value);
    if (value > above && value <= most) return value;
    throw invalidOption(
      `${name}: found ${value}; expected a number above ${above} and at most ${most}`,
    );
  };
}

/** A check for an array of what a check takes. */
export function list(what: string, check: Check): Check {
  return (name, value) => {
    if (!Array.isArray(value)) throw invalidArgument(name, `an array of ${what}`, value);
    return value.map((one, nth) => check(`${name}[${nth}]`, one));
  };
}
