/** The editor in which the page is shown, if it is: it opens sources beside it. */

/** A class, one of its fields, or a line. */
export type SourceWish = { className: string; field?: string } | { file: string; line: number };

export interface Editor {
  openSource(wish: SourceWish): void;
  /** Shows the page anew. */
  reload(): void;
}

/** What the page says to the editor. */
export type ToEditor =
  | { kind: "ask"; id: number; method: string; params: unknown }
  | { kind: "cancel"; id: number }
  | { kind: "source"; wish: SourceWish }
  | { kind: "reload" };

/** What the editor says to the page. */
export type FromEditor =
  | { kind: "answer"; id: number; result: unknown }
  | { kind: "failure"; id: number; message: string }
  | { kind: "show"; hash: string };
