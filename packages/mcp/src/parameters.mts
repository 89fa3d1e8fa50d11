/** The parameters of a question in words, for errors. */
import { z } from "zod";
import type { Question } from "./question.mts";

/** The names of all parameters; those that can be left out end with `?`. */
export function parametersOf({ name, input }: Question): string {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: "input" });
  const names = Object.keys(properties).map((one) => (required.includes(one) ? one : `${one}?`));
  return names.length === 0 ? `${name} takes no parameters` : `${name} takes ${names.join(", ")}`;
}
