/** What a question found, before a transport gives it a form: cut and marked for agents, whole for pages. */
import type { Warning } from "../../../index.js";

/** The part of a list that an answer has. */
export interface Listed {
  total: number;
  offset: number;
  listed: number;
  /** The offset of the next page; null if this is the last one. */
  next: number | null;
}

export interface Found<B = Record<string, unknown>> {
  /** The fields of its own, with whole lists. */
  body: B;
  /** The page of the list named `list`. */
  page?: { list: string; total: number; offset: number };
  warnings: Warning[];
  partial: boolean;
  /** Whether an estimate is among the numbers. */
  isEstimate?: boolean;
}

/** What stops the work of a question, and what hears of its progress. */
export interface Watch {
  signal: AbortSignal;
  onProgress?: (progress: { fraction: number; phase: string }) => void;
}

export function listed(total: number, offset: number, count: number): Listed {
  const end = offset + count;
  return { total, offset, listed: count, next: end < total ? end : null };
}
