/** Errors of questions. Like those of the analyzer, they have a stable code. */
import { type Surface, withAdvice } from "../advice.js";

/** What went wrong, with a code for programs and a sentence for people. */
export class QuestionError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether work ended because its caller no longer wants it. */
export function isAborted(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ABORT_ERR";
}

/** An error as one text: its code, its sentence, then what the asker can do about it. */
export function errorText(error: unknown, surface?: Surface): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = typeof message === "string" ? message : String(error);
  const whole = surface === undefined ? text : withAdvice(surface, code, text);
  return typeof code === "string" && !text.startsWith(code) ? `${code}: ${whole}` : whole;
}
