/** Above each class: how many of its objects are alive in the dump that is open. */
import * as vscode from "vscode";
import { type ClassFact, lensTitle } from "./class_facts.mts";
import { classesIn } from "./declarations.mts";
import type { HeapView } from "./heap_view.mts";
import { couldBe, fileOf } from "./sources.mts";

/** Forms of a generic class that are shown. */
const MOST_FORMS = 3;

export class ClassLenses implements vscode.CodeLensProvider {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #view: () => HeapView | undefined;

  constructor(view: () => HeapView | undefined) {
    this.#view = view;
  }

  refresh(): void {
    this.#changed.fire();
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const view = this.#view();
    const isOn = vscode.workspace.getConfiguration("warpoHeap").get("codeLens") === true;
    if (view === undefined || !isOn) return [];
    const here = view.facts.filter(({ file }) => couldBe(file, document.uri.fsPath));
    const files = new Map<string, string | undefined>();
    for (const { file } of here) {
      if (!files.has(file)) files.set(file, await fileOf(view, file));
    }
    const facts = here.filter(({ file }) => files.get(file) === document.uri.fsPath);
    return classesIn(document.getText()).flatMap(({ name, line }) => {
      const forms = facts.filter((fact) => fact.name === name);
      const range = new vscode.Range(line, 0, line, 0);
      return forms
        .slice(0, MOST_FORMS)
        .map((fact) => new vscode.CodeLens(range, commandOf(fact, view, forms.length > 1)));
    });
  }
}

function commandOf(fact: ClassFact, view: HeapView, isOneOfSeveral: boolean): vscode.Command {
  return {
    title: lensTitle(fact, view.before, isOneOfSeveral),
    tooltip: "Show these objects",
    command: "warpoHeap.showClass",
    arguments: [fact.className],
  };
}
