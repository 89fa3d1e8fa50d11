/** The analyzer behind an editor: questions and answers are the messages of a webview. */
import type { Method, Methods, Status } from "../explorer/methods.js";
import { type Report, unpackReport } from "./data.ts";
import type { FromEditor, SourceWish, ToEditor } from "./editor.ts";
import type { Questions } from "./questions.ts";
import { navigate, watchRoute } from "./route.ts";

/** What VS Code gives to a webview. */
interface Webview {
  postMessage(message: ToEditor): void;
  getState(): { hash: string } | undefined;
  setState(state: { hash: string }): void;
}

declare function acquireVsCodeApi(): Webview;

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Whether the page is shown by an editor. */
export function isInEditor(): boolean {
  return typeof acquireVsCodeApi === "function";
}

export class EditorQuestions implements Questions {
  readonly isComplete = true;
  readonly editor = {
    openSource: (wish: SourceWish) => this.#webview.postMessage({ kind: "source", wish }),
    reload: () => this.#webview.postMessage({ kind: "reload" }),
  };
  readonly #webview = acquireVsCodeApi();
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor() {
    addEventListener("message", ({ data }: MessageEvent<FromEditor>) => this.#receive(data));
    const hash = this.#webview.getState()?.hash ?? document.body.dataset.route ?? "";
    if (hash !== "") history.replaceState(null, "", hash);
    // The editor opens the page there again.
    watchRoute((hash) => this.#webview.setState({ hash }));
    followTheme();
  }

  ask<M extends Method>(
    method: M,
    params: Methods[M]["request"],
    signal?: AbortSignal,
  ): Promise<Methods[M]["answer"]> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#webview.postMessage({ kind: "ask", id, method, params });
      signal?.addEventListener("abort", () => {
        if (!this.#waiting.delete(id)) return;
        this.#webview.postMessage({ kind: "cancel", id });
        reject(new DOMException("The answer is not wanted any more.", "AbortError"));
      });
    });
  }

  async report({ heap, before }: Status): Promise<Report> {
    return unpackReport(await this.ask("report", { heap: heap ?? "", before }));
  }

  #receive(message: FromEditor): void {
    if (message.kind === "show") {
      navigate(message.hash);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === "answer") waiting?.resolve(message.result as never);
    else waiting?.reject(new Error(message.message));
  }
}

/** Takes the theme of the editor, also when it changes. */
function followTheme(): void {
  const follow = () => {
    const kind = document.body.dataset.vscodeThemeKind ?? "";
    const isLight = kind === "vscode-light" || kind === "vscode-high-contrast-light";
    document.documentElement.dataset.theme = isLight ? "light" : "dark";
  };
  follow();
  const attributeFilter = ["data-vscode-theme-kind"];
  new MutationObserver(follow).observe(document.body, { attributeFilter });
}
