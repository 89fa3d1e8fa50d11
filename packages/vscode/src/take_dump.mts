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
  const process = await askInspector(cli, target.trim());
  const instance = process && (await askInstance(process.listing));
  if (process === undefined || instance === undefined) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
  const file = await vscode.window.showSaveDialog({
    title: "The dump to write; it contains the memory of the program, with its secrets",
    defaultUri: vscode.Uri.file(join(folder, "process.dump")),
    filters: { "Heap dumps": ["dump"] },
  });
  if (file === undefined) return;
  const args = [...process.args, "--instance", instance, "--output", file.fsPath];
  const { code, messages } = await withProgress("Taking a dump", () => runAnalyzer(cli, args));
  if (code !== 0) return void vscode.window.showErrorMessage(plainText(messages));
  await vscode.commands.executeCommand("vscode.openWith", file, "warpoHeap.dump");
}

type Listing = Awaited<ReturnType<typeof runAnalyzer>>;

/** How to attach to a target, and its instances. The signal that opens an inspector is sent only after a question. */
async function askInspector(
  cli: string,
  target: string,
): Promise<{ args: string[]; listing: Listing } | undefined> {
  const list = async (args: string[]) => ({
    args,
    listing: await withProgress(`Attaching to ${plainText(target)}`, () =>
      runAnalyzer(cli, [...args, "--list"]),
    ),
  });
  const found = await list(["attach", target]);
  if (!/has no open inspector/.test(found.listing.messages)) return found;
  const open = "Open the Inspector";
  const question = `Process ${plainText(target)} has no open inspector. The signal SIGUSR1 opens it; it is closed after the dump.`;
  const chosen = await vscode.window.showWarningMessage(question, { modal: true }, open);
  return chosen === open ? await list(["attach", target, "--inspector"]) : undefined;
}

/** The number of the instance: the only one, or the one that is chosen. */
async function askInstance(listing: Listing): Promise<string | undefined> {
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
