/** The extension: opens heaps in the page of the explorer, and leads from their data to the source and back. */
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { runAnalyzer } from "./analyzer.mts";
import { askDump, askModule, moduleOf } from "./choices.mts";
import { ClassLenses } from "./code_lens.mts";
import { showSuspects } from "./diagnostics.mts";
import { HeapView, type Host } from "./heap_view.mts";
import { heapsIn, isHeap } from "./modules.mts";
import { openSource } from "./sources.mts";
import { takeDump } from "./take_dump.mts";

const EDITORS = ["warpoHeap.dump", "warpoHeap.other"];
const LANGUAGES = ["typescript", "javascript", "typescriptreact", "javascriptreact"];

export function activate(context: vscode.ExtensionContext): void {
  new Extension(context);
}

class Extension implements vscode.CustomReadonlyEditorProvider, Host {
  readonly cli: string;
  readonly #memory: vscode.Memento;
  readonly #lenses = new ClassLenses(() => this.#views.at(-1));
  readonly #diagnostics = vscode.languages.createDiagnosticCollection("heap");
  /** The views that are open, the one that was looked at last at the end. */
  readonly #views: HeapView[] = [];
  #changes = 0;

  constructor({ extensionPath, workspaceState, subscriptions }: vscode.ExtensionContext) {
    this.cli = join(extensionPath, "analyzer/dist/heap_analyzer/cli.js");
    this.#memory = workspaceState;
    const webviewOptions = { retainContextWhenHidden: true };
    const command = vscode.commands.registerCommand;
    subscriptions.push(
      this.#diagnostics,
      vscode.languages.registerCodeLensProvider(LANGUAGES, this.#lenses),
      vscode.workspace.onDidChangeConfiguration(() => this.onChange()),
      ...EDITORS.map((type) =>
        vscode.window.registerCustomEditorProvider(type, this, {
          webviewOptions,
          supportsMultipleEditorsPerDocument: true,
        }),
      ),
      command("warpoHeap.compare", () => this.#compare()),
      command("warpoHeap.growth", (folder?: vscode.Uri) => this.#growth(folder)),
      command("warpoHeap.report", () => this.#report()),
      command("warpoHeap.profile", () => this.#profile()),
      command("warpoHeap.module", (view?: unknown) => this.#module(view)),
      command("warpoHeap.restart", () => this.#views.at(-1)?.open()),
      command("warpoHeap.attach", () => takeDump(this.cli)),
      command("warpoHeap.showClass", (name: string) => {
        this.#views.at(-1)?.show(`#class?${new URLSearchParams({ name })}`);
      }),
    );
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose() {} };
  }

  async resolveCustomEditor(
    { uri }: vscode.CustomDocument,
    panel: vscode.WebviewPanel,
  ): Promise<void> {
    const dump = uri.fsPath;
    if (!(await isHeap(dump))) {
      // Another file with such a name.
      await vscode.commands.executeCommand("vscode.openWith", uri, "default", panel.viewColumn);
      panel.dispose();
      return;
    }
    const module = await moduleOf(dump, this.cli, this.#memory);
    if (module === undefined) {
      panel.dispose();
      return;
    }
    await this.#add(new HeapView(panel, { paths: [dump], module }, this));
  }

  async openSource(...wanted: Parameters<Host["openSource"]>): Promise<void> {
    await openSource(...wanted);
  }

  onChange(): void {
    this.#lenses.refresh();
    const change = ++this.#changes;
    void showSuspects(this.#diagnostics, this.#views.at(-1), () => change === this.#changes);
    void vscode.commands.executeCommand("setContext", "warpoHeap.isOpen", this.#views.length > 0);
  }

  async #add(view: HeapView): Promise<void> {
    const remove = () => {
      const at = this.#views.indexOf(view);
      if (at >= 0) this.#views.splice(at, 1);
    };
    const look = () => {
      if (!view.panel.active || this.#views.at(-1) === view) return;
      remove();
      this.#views.push(view);
      this.onChange();
    };
    this.#views.push(view);
    view.panel.onDidChangeViewState(look);
    view.panel.onDidDispose(() => {
      remove();
      this.onChange();
    });
    await view.open();
  }

  async #compare(): Promise<void> {
    const view = this.#views.at(-1);
    const [dump] = view?.request.paths ?? [];
    if (view === undefined || dump === undefined) return;
    const before = await askDump(dump, `The earlier dump to compare ${basename(dump)} with`);
    if (before !== undefined) await view.open({ before });
  }

  async #growth(given: vscode.Uri | undefined): Promise<void> {
    const canSelectFolders = { canSelectFolders: true, canSelectFiles: false };
    const chosen = given ?? (await vscode.window.showOpenDialog(canSelectFolders))?.[0];
    if (chosen === undefined) return;
    const folder = chosen.fsPath;
    const dumps = await heapsIn(folder);
    const [dump] = dumps;
    if (dump === undefined) {
      const message = `${folder} contains no heap dump and no heap snapshot.`;
      void vscode.window.showInformationMessage(message);
      return;
    }
    const module = await moduleOf(dump, this.cli, this.#memory);
    if (module === undefined) return;
    const panel = vscode.window.createWebviewPanel(
      "warpoHeap.folder",
      `Growth in ${basename(folder)}`,
      vscode.ViewColumn.Active,
      { retainContextWhenHidden: true },
    );
    // Growth is of three dumps or more.
    const route = dumps.length > 2 ? "#growth" : "";
    await this.#add(new HeapView(panel, { paths: [folder], module }, this, route));
  }

  /** Writes the report of what is shown, and opens it. */
  async #report(): Promise<void> {
    const { paths, module, before } = this.#views.at(-1)?.request ?? { paths: [] };
    const [path] = paths;
    if (path === undefined) return;
    const dump = (await isHeap(path)) ? path : ((await heapsIn(path)).at(-1) ?? path);
    const file = await vscode.window.showSaveDialog({
      title: "The report to write",
      defaultUri: vscode.Uri.file(`${dump}.html`),
      filters: { "Web pages": ["html"] },
    });
    if (file === undefined) return;
    const wasm = typeof module === "string" ? ["--wasm", module] : [];
    const earlier = before === undefined ? [] : ["--before", before];
    const args = ["report", dump, ...wasm, ...earlier, "--output", file.fsPath];
    const { code, messages } = await runAnalyzer(this.cli, args);
    if (code !== 0) {
      void vscode.window.showErrorMessage(messages);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      "warpoHeap.report",
      basename(file.fsPath),
      vscode.ViewColumn.Active,
      { enableScripts: true, localResourceRoots: [] },
    );
    panel.webview.html = await readFile(file.fsPath, "utf8");
  }

  async #profile(): Promise<void> {
    const view = this.#views.at(-1);
    const [path] = view?.request.paths ?? [];
    if (view === undefined || path === undefined) return;
    const [profile] =
      (await vscode.window.showOpenDialog({
        title: "The heap profile of the moment of the dump",
        defaultUri: vscode.Uri.file(dirname(path)),
        filters: { "Heap profiles": ["gz", "pb"] },
      })) ?? [];
    if (profile !== undefined) await view.open({ profile: profile.fsPath });
  }

  async #module(given: unknown): Promise<void> {
    const view = given instanceof HeapView ? given : this.#views.at(-1);
    const [path] = view?.request.paths ?? [];
    if (view === undefined || path === undefined) return;
    const module = await askModule(path, this.#memory);
    if (module !== undefined) await view.open({ module });
  }
}
