/** All questions, in the order in which a hunt asks them. */
import type { Question } from "../question.mts";
import { attachQuestion } from "./attach.mts";
import { classes, compare } from "./classes.mts";
import { exportHeap } from "./export.mts";
import { listDumps, openHeaps } from "./files.mts";
import { growth, suspects } from "./leaks.mts";
import { waste } from "./memory.mts";
import { dominators, find, object, paths } from "./objects.mts";
import { sites } from "./sites.mts";

const QUESTIONS: Question[] = [
  listDumps,
  openHeaps,
  suspects,
  growth,
  paths,
  classes,
  compare,
  find,
  object,
  dominators,
  waste,
  sites,
];

/** The questions; exports only if there is a folder for them, and dumps of running programs only if they are allowed. */
export function questions(hasExports: boolean, hasTargets: boolean): Question[] {
  return [
    ...QUESTIONS,
    ...(hasExports ? [exportHeap] : []),
    ...(hasTargets ? [attachQuestion] : []),
  ];
}
