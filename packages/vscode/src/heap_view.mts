/** One page of heaps in a tab of the editor, and the analyzer that answers it. */
import { basename } from "node:path";
import * as vscode from "vscode";
import type { Method, ServedClass, SourceRow } from "../../../js/explorer/methods.js";
import { type Report, unpackReport } from "../../../js/report/data.ts";
import type { FromEditor, SourceWish, ToEditor } from "../../../js/report/editor.ts";
import { Analyzer, type OpenRequest } from "./analyzer.mts";
import { type ClassFact, classFacts } from "./class_facts.mts";

/** Classes of a page of an answer, and classes that are asked for at most. */
const PAGE = 1000;
const MOST_CLASSES = 20_000;
/** Milliseconds in which an analyzer that does not answer has ended. */
const LAST_WORDS = 1000;

/** What views need of the extension. */
export interface Host {
  /** The script of the analyzer's command line. */
  readonly cli: string;
  openSource(view: HeapView, wish: SourceWish): Promise<void>;
  /** Called when a view has new data, or is not shown any more. */
  onChange(): void;
}

export class HeapView {
  readonly panel: vscode.WebviewPanel;
  readonly #host: Host;
  readonly #route: string;
  /** What stops the questions that are being answered, by the page's number of them. */
  readonly #asked = new Map<number, AbortController>();
  #request: OpenRequest;
  #analyzer: Analyzer | undefined;
  #pages = 0;
  /** Of the dump that is shown, when it has been read. */
  facts: ClassFact[] = [];
  before: string | null = null;
  report: Report | undefined;

  /** Shows a page, at a route of it such as `#growth`. */
  constructor(panel: vscode.WebviewPanel, request: OpenRequest, host: Host, route = "") {
    this.panel = panel;
    this.#request = request;
    this.#host = host;
    this.#route = route;
    panel.webview.options = { enableScripts: true, localResourceRoots: [] };
    panel.webview.onDidReceiveMessage((message: ToEditor) => this.#receive(message));
    panel.onDidDispose(() => this.#stop());
  }

  /** What is shown. */
  get request(): OpenRequest {
    return this.#request;
  }

  /** Starts the analyzer, with other files if they are given, and shows the page. */
  async open(change: Partial<OpenRequest> = {}): Promise<void> {
    this.#stop();
    this.#request = { ...this.#request, ...change };
    try {
      const analyzer = await Analyzer.start(this.#host.cli, this.#request);
      this.#analyzer = analyzer;
      void analyzer.ended.then((messages) => this.#fail(analyzer, messages));
      // It may end before it gives its page, if it cannot read the dump: then that is said.
      const isShown = this.#showPage(analyzer).catch(() => {});
      await Promise.race([isShown, analyzer.ended]);
    } catch (error) {
      this.#showFailure((error as Error).message);
    }
  }

  /** Shows another part of the page. */
  show(hash: string): void {
    this.panel.reveal(this.panel.viewColumn);
    this.#send({ kind: "show", hash });
  }

  async #showPage(analyzer: Analyzer): Promise<void> {
    const html = await analyzer.page();
    // An equal text would not be loaded again.
    const body = `<body data-route="${this.#route}" data-page="${++this.#pages}">`;
    this.panel.webview.html = html.replace("<body>", body);
  }

  #stop(): void {
    this.#analyzer?.stop();
    this.#analyzer = undefined;
    for (const stop of this.#asked.values()) stop.abort();
    this.#asked.clear();
    this.facts = [];
    this.report = undefined;
    this.#host.onChange();
  }

  #fail(analyzer: Analyzer, messages: string): void {
    if (analyzer.isStopped) return;
    if (this.report !== undefined) void this.#offer(messages);
    else this.#showFailure(messages);
  }

  /** There is no page that could stay. */
  #showFailure(message: string): void {
    this.panel.webview.html = failurePage(withoutOptions(message));
    void this.#offer(message);
  }

  /** Says what went wrong. The page stays as it is. */
  async #offer(message: string): Promise<void> {
    const name = basename(this.#request.paths[0] ?? "");
    const isDamaged = /--partial\b/.test(message) && this.#request.isPartial !== true;
    const actions: Record<string, () => unknown> = {
      Restart: () => this.open(),
      ...(isDamaged && {
        "Show the Part before the Damage": () => this.open({ isPartial: true }),
      }),
      ...(/\bmodule\b/.test(message) && {
        "Choose the Module…": () => vscode.commands.executeCommand("warpoHeap.module", this),
      }),
    };
    const text = withoutOptions(message);
    const named = text.includes(name) ? text : `${name}: ${text}`;
    const chosen = await vscode.window.showErrorMessage(named, ...Object.keys(actions));
    if (chosen !== undefined) await actions[chosen]?.();
  }

  #receive(message: ToEditor): void {
    if (message.kind === "ask") void this.#answer(message.id, message.method, message.params);
    else if (message.kind === "cancel") this.#asked.get(message.id)?.abort();
    else if (message.kind === "source") void this.#host.openSource(this, message.wish);
    else if (this.#analyzer !== undefined) void this.#showPage(this.#analyzer);
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    const stop = new AbortController();
    this.#asked.set(id, stop);
    const analyzer = this.#analyzer;
    try {
      if (analyzer === undefined) throw new Error("The analyzer has ended.");
      const result = await analyzer.ask(method as Method, params as never, stop.signal);
      this.#send({ kind: "answer", id, result });
      if (method === "report") void this.#read(analyzer, unpackReport(result));
    } catch (error) {
      this.#send({ kind: "failure", id, message: await failureOf(error as Error, analyzer) });
    } finally {
      this.#asked.delete(id);
    }
  }

  /** Asks what the editor shows outside of the page. */
  async #read(analyzer: Analyzer, report: Report): Promise<void> {
    const { heap, before, dumps } = await analyzer.ask("status", {});
    if (heap === null) return;
    const list = async <R,>(method: "classes" | "sources", handle: string) => {
      const rows: R[] = [];
      let next: number | null = 0;
      while (next !== null && next < MOST_CLASSES) {
        const offset: number = next;
        const found = await analyzer.ask(method, { heap: handle, limit: PAGE, offset });
        rows.push(...(found.rows as R[]));
        next = found.page.next;
      }
      return rows;
    };
    const sources = await list<SourceRow>("sources", heap);
    const classes = await list<ServedClass>("classes", heap);
    const earlier = before === null ? undefined : await list<ServedClass>("classes", before);
    if (analyzer !== this.#analyzer) return;
    this.facts = classFacts(classes, earlier, sources);
    this.before = dumps.find((dump) => dump.heap === before)?.name ?? null;
    this.report = report;
    this.#host.onChange();
  }

  #send(message: FromEditor): void {
    void this.panel.webview.postMessage(message);
  }
}

/** Why there is no answer: if the analyzer has ended, its last words. */
async function failureOf(error: Error, analyzer: Analyzer | undefined): Promise<string> {
  if (!(error instanceof TypeError) || analyzer === undefined) return error.message;
  const soon = new Promise<void>((resolve) => setTimeout(resolve, LAST_WORDS));
  const messages = await Promise.race([analyzer.ended, soon]);
  return messages ?? "The analyzer does not answer.";
}

/** A message without what it says of options of the command line: here are buttons for them. */
function withoutOptions(message: string): string {
  return message.replace(/; --(?:partial|force)\b[^\n]*/g, "");
}

/** A page that only says why there is no other. */
function failurePage(message: string): string {
  const text = message.replace(/[&<]/g, (character) => (character === "&" ? "&amp;" : "&lt;"));
  const paragraphs = text.split("\n").map((line) => `<p>${line}</p>`);
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'">`;
  return `<!DOCTYPE html><html lang="en"><head>${policy}<title>Heap</title></head><body><h1>This heap cannot be shown</h1>${paragraphs.join("")}</body></html>`;
}
