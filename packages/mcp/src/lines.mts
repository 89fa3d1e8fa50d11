/** Parts of texts: addresses, places, paths, cuts. */
import type { Cut, Edge, Evidence, Path, Root, SizeParts } from "@warpo/heap-analyzer";
import { formatCount, formatSize } from "../../../js/units.ts";

export { formatCount, formatSize };

export function named(className: string | null, addressText: string | null): string {
  const at = addressText === null ? "" : ` ${addressText}`;
  return `${className ?? "(no class)"}${at}`;
}

/** A text about a function object, followed by the function if its name is known. */
export function withFunction(text: string, functionName: string | undefined): string {
  return functionName === undefined ? text : `${text} (${functionName})`;
}

export function rootText({ kind, name }: Root): string {
  return name === null ? kind : `${kind} ${name}`;
}

/** A retained size; of heaps that were joined, the bytes of each. */
export function sizes({
  retainedSize,
  retainedParts: parts,
}: {
  retainedSize: number;
  retainedParts?: SizeParts | undefined;
}): string {
  if (parts === undefined) return formatSize(retainedSize);
  const javascript = `${formatSize(parts.javascript)} of JavaScript`;
  const wasm = `${formatSize(parts.wasm)} of wasm`;
  if (parts.javascript === 0) return wasm;
  return parts.wasm === 0 ? javascript : `${javascript} and ${wasm}`;
}

/** Bytes; of heaps that were joined, those of each. */
export function inWords(bytes: number, parts: SizeParts | undefined): string {
  return sizes({ retainedSize: bytes, retainedParts: parts });
}

function evidenceText({ kind, hits, values }: Evidence): string {
  return kind === "derived" ? `derived: ${hits} of ${values} values` : kind;
}

/** A path in few lines: the root, then a line for each step. */
export function pathLines(path: Path | null): string[] {
  if (path === null) return ["No path: no root reaches it."];
  const steps = path.steps.map((step) => {
    const { labelText, addressText, className, functionName, repeat } = step;
    const by = labelText === null ? "" : `${labelText.trim()} `;
    const times = repeat > 1 ? ` (${formatCount(repeat)} times)` : "";
    const object = withFunction(named(className, addressText), functionName);
    const because = step.evidence === undefined ? "" : ` (${evidenceText(step.evidence)})`;
    return `  ${by}${object}${times}${because} retains ${sizes(step)}`;
  });
  const stable = path.stable ? "" : ", not stable across builds";
  return [rootText(path.root), ...steps, `fingerprint ${path.fingerprint}${stable}`];
}

/** The reference to cut. */
export function cutText(cut: Cut): string {
  return `Cutting ${place(cut)} frees ${sizes({ retainedSize: cut.freed, retainedParts: cut.freedParts })}.`;
}

/** A reference by its holder. */
export function edgeText(edge: Edge): string {
  const at = edge.addressText === null ? "" : ` of ${edge.addressText}`;
  const because = edge.evidence === undefined ? "" : `, ${evidenceText(edge.evidence)}`;
  return `${place(edge)}${at}${because}${edge.independent ? ", independent" : ""}`;
}

function place(edge: Omit<Cut, "freed" | "freedParts">): string {
  if (edge.root !== null) return rootText(edge.root);
  return `${edge.className ?? ""}${edge.labelText ?? ""}`;
}
