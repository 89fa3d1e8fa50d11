/** Finds classes, fields and lines in the sources, and opens them. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import * as vscode from "vscode";
import type { SourceWish } from "../../../js/report/editor.ts";
import { classLine, declaredName, fieldLine, variableLine } from "./declarations.mts";
import type { HeapView } from "./heap_view.mts";
import { plainText } from "./plain_text.mts";
import { basesOf, isSource, sourcePath } from "./source_files.mts";
import type { SuspectPlace } from "./suspects.mts";

/** A line of a file, from 0. */
export interface Place {
  file: string;
  line: number;
}

/** The file of the source that a heap or a source map names; undefined if there is none, or more than one. */
export async function fileOf(view: HeapView, name: string): Promise<string | undefined> {
  const { module, paths } = view.request;
  const workspace = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const found = sourcePath(name, basesOf(module ?? paths[0] ?? "", workspace), workspace);
  if (found !== undefined || !/^[\w@.-][\w@./-]*$/.test(name)) return found;
  const files = await vscode.workspace.findFiles(`**/${name}`, "**/node_modules/**", 2);
  const only = files.length === 1 ? files[0]?.fsPath : undefined;
  return only !== undefined && isSource(only, workspace) ? only : undefined;
}

/** Where a class or a field of it is; of a field that is not found, where its class is. */
export async function placeOf(
  view: HeapView,
  wish: SourceWish | SuspectPlace,
): Promise<Place | undefined> {
  if ("line" in wish) {
    const file = await fileOf(view, wish.file);
    return file === undefined ? undefined : { file, line: wish.line - 1 };
  }
  if ("variable" in wish) {
    const file = await fileOf(view, wish.file);
    const line = file && variableLine(await readFile(file, "utf8"), wish.variable);
    return file === undefined || typeof line !== "number" ? undefined : { file, line };
  }
  const fact = view.facts.find(({ className }) => className === wish.className);
  const file = fact && (await fileOf(view, fact.file));
  if (fact === undefined || file === undefined) return undefined;
  const text = await readFile(file, "utf8");
  const constructorLine = fact.line === null ? undefined : fact.line - 1;
  const line = classLine(text, declaredName(wish.className), constructorLine) ?? constructorLine;
  if (line === undefined) return undefined;
  const field = wish.field === undefined ? undefined : fieldLine(text, line, wish.field);
  return { file, line: field ?? line };
}

/** Opens a source beside the page. */
export async function openSource(view: HeapView, wish: SourceWish): Promise<void> {
  const place = await placeOf(view, wish);
  if (place === undefined) {
    const name = "className" in wish ? wish.className : wish.file;
    const message = `No file in the workspace is known for ${plainText(name)}. A source map beside the module, and the folder of the source in the workspace, would give it.`;
    void vscode.window.showInformationMessage(message);
    return;
  }
  const { One, Beside } = vscode.ViewColumn;
  const viewColumn = view.panel.viewColumn === One ? Beside : One;
  const start = new vscode.Position(place.line, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(place.file), {
    viewColumn,
    selection: new vscode.Range(start, start),
  });
}

/** Whether a name could be that of a file, by its last part. */
export function couldBe(name: string, file: string): boolean {
  return name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1) === basename(file);
}
