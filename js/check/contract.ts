/** The shapes of a check's answer. */
import type { Root, Warning } from "../../index.js";

export interface GrowingSite {
  root: Root | null;
  path: string | null;
  label: string | null;
  className: string;
  fingerprint: string;
  stable: boolean;
  counts: (number | null)[];
  bytes: (number | null)[];
  perInterval: { count: number; bytes: number };
  folded: FoldedSite[];
}

export interface FoldedSite {
  className: string;
  label: string | null;
  path: string | null;
  fingerprint: string;
  count: number;
}

export interface CheckRule {
  rule: string;
  limit: number;
  actual: number;
  passed: boolean;
  sites: string[];
}

export interface CheckAnswer {
  schemaVersion: 1;
  passed: boolean;
  rules: CheckRule[];
  sites: GrowingSite[];
  accepted: string[];
  gone: string[];
  partial: boolean;
  warnings: Warning[];
}
