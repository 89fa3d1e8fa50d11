/** Takes a dump of a running process that was not prepared for it. */
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { runAnalyzer } from "./analyzer.mts";
import { plainText } from "./plain_text.mts";

/** Asks for the process, the instance and the file, takes the dump and opens it. */
export async function takeDump(cli: string): Promise<void> {
  const target = await vscode.window.showInputBox({
    title: "The running process",
    prompt: "The id of a Node process, or the address of an inspector of Node or Chromium",
    placeHolder: "12345 or http://127.0.0.1:9229",
    ignoreFocusOut: true,
  });
  if (target === undefined || target.trim() === "") return;
  const instance = await askInstance(cli, target.trim());
  if (instance === undefined) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
  const file = await vscode.window.showSaveDialog({
    title: "The dump to write; it contains the memory of the program, with its secrets",
    defaultUri: vscode.Uri.file(join(folder, "process.dump")),
    filters: { "Heap dumps": ["dump"] },
  });
  if (file === undefined) return;
  const args = ["attach", target.trim(), "--instance", instance, "--output", file.fsPath];
  const { code, messages } = await withProgress("Taking a dump", () => runAnalyzer(cli, args));
  if (code !== 0) return void vscode.window.showErrorMessage(plainText(messages));
  await vscode.commands.executeCommand("vscode.openWith", file, "warpoHeap.dump");
}

/** The number of the instance: the only one, or the one that is chosen. */
async function askInstance(cli: string, target: string): Promise<string | undefined> {
  const args = ["attach", target, "--list"];
  const listing = await withProgress(`Attaching to ${target}`, () => runAnalyzer(cli, args));
  const instances = listing.output.split("\n").filter((line) => /^\d+ {2}/.test(line));
  if (listing.code !== 0 || instances.length === 0) {
    void vscode.window.showErrorMessage(plainText(listing.messages || listing.output));
    return undefined;
  }
  const title = "The WebAssembly instance";
  const [only] = instances;
  const chosen =
    instances.length === 1 ? only : await vscode.window.showQuickPick(instances, { title });
  return chosen?.split(" ", 1)[0];
}

async function withProgress<T>(title: string, work: () => Promise<T>): Promise<T> {
  const location = vscode.ProgressLocation.Notification;
  return await vscode.window.withProgress({ location, title }, work);
}
