/** Where in the source a suspect of a dump is: the reference to cut, or else its class. */
import type { SuspectsAnswer } from "../../../answers.js";
import { moduleFileOf } from "../../../js/module_file.js";
import type { Report } from "../../../js/report/data.ts";

export type Suspect = SuspectsAnswer["suspects"][number];

/** A class with a field, or a variable of a module. */
export type SuspectPlace =
  | { className: string; field: string | undefined }
  | { file: string; variable: string };

/** The suspects of a report: those that grew, if it compares two dumps. */
export function suspectsOf({ comparison, suspects }: Report): Suspect[] {
  return (comparison?.growth ?? suspects).suspects;
}

/** The places in which a suspect could be shown, the best one first. */
export function placesOf({ cut, className, path }: Suspect): SuspectPlace[] {
  const places: SuspectPlace[] = [];
  if (cut?.className != null) places.push({ className: cut.className, field: fieldOf(cut.label) });
  // Towards the root: what holds the reference within a container.
  const steps = path?.steps ?? [];
  for (let nth = steps.length - 1; nth > 0; nth--) {
    const holder = steps[nth - 1];
    if (holder) places.push({ className: holder.className, field: fieldOf(steps[nth]?.label) });
  }
  const root = cut?.root ?? path?.root;
  const file = root?.kind === "global" && root.name !== null ? moduleFileOf(root.name) : undefined;
  if (file !== undefined) {
    places.push({ file, variable: /[^/]*$/.exec(root?.name ?? "")?.[0] ?? "" });
  }
  places.push({ className, field: undefined });
  return places;
}

/** The field of a label; undefined for an entry of a container. */
function fieldOf(label: string | null | undefined): string | undefined {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.exec(label ?? "")?.[0];
}
