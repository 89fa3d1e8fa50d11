/** Suspects of the dump that is open, as warnings in the source. */
import * as vscode from "vscode";
import type { HeapView } from "./heap_view.mts";
import { type Place, placeOf } from "./sources.mts";
import { placesOf, type Suspect, suspectsOf } from "./suspects.mts";

/**
 * Shows the suspects of a view in place of all others.
 *
 * @param isCurrent whether there was no later change. Finding the sources takes time.
 */
export async function showSuspects(
  diagnostics: vscode.DiagnosticCollection,
  view: HeapView | undefined,
  isCurrent: () => boolean,
): Promise<void> {
  const isOn = vscode.workspace.getConfiguration("warpoHeap").get("diagnostics") === true;
  const report = isOn ? view?.report : undefined;
  if (report === undefined || view === undefined) return diagnostics.clear();
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const suspect of suspectsOf(report)) {
    const place = await firstPlace(view, suspect);
    if (place === undefined) continue;
    const { file, line } = place;
    byFile.set(file, [...(byFile.get(file) ?? []), warning(line, suspect, report.dump)]);
  }
  if (!isCurrent()) return;
  diagnostics.clear();
  for (const [file, list] of byFile) diagnostics.set(vscode.Uri.file(file), list);
}

function warning(line: number, { text }: Suspect, dump: string): vscode.Diagnostic {
  const range = new vscode.Range(line, 0, line, Number.MAX_SAFE_INTEGER);
  const found = new vscode.Diagnostic(range, text, vscode.DiagnosticSeverity.Warning);
  found.source = dump;
  return found;
}

/** A place of the program's own code; the standard library and packages are only used by it. */
async function firstPlace(view: HeapView, suspect: Suspect): Promise<Place | undefined> {
  for (const wish of placesOf(suspect)) {
    const place = await placeOf(view, wish);
    if (place !== undefined && !/[\\/]node_modules[\\/]/.test(place.file)) return place;
  }
  return undefined;
}
