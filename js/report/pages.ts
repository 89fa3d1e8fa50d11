/** All pages, in the order of their links. */
import { classPage } from "./class_page.ts";
import { classesPage } from "./classes.ts";
import { comparisonPage } from "./comparison.ts";
import { dominatorsPage } from "./dominators.ts";
import { growthPage } from "./growth_page.ts";
import { linesPage } from "./lines_page.ts";
import { overviewPage } from "./overview.ts";
import type { DumpContext, PageContext, WasteContext } from "./parts.ts";
import { unreachablePage } from "./unreachable.ts";
import { wastePage } from "./waste.ts";
import { wherePage } from "./where_page.ts";

export interface PageView {
  element: HTMLElement;
  /** Draws what has no styles of its own in the colours of another theme. */
  redraw?: () => void;
}

export interface PageKind {
  title: string;
  show: (context: PageContext, parameters: URLSearchParams) => PageView;
}

export const PAGES: Record<string, PageKind> = {
  overview: { title: "Overview", show: (context) => ({ element: overviewPage(context) }) },
  classes: {
    title: "Classes",
    show: (context, parameters) => ({ element: classesPage(context, parameters) }),
  },
  class: {
    title: "Class",
    show: (context, parameters) => ({ element: classPage(context, parameters) }),
  },
  dominators: { title: "Dominators", show: dominatorsPage },
  comparison: { title: "Comparison", show: (context) => ({ element: comparisonPage(context) }) },
  where: {
    title: "Where",
    show: (context, parameters) => ({ element: wherePage(context, parameters) }),
  },
  growth: { title: "Growth", show: (context) => ({ element: growthPage(context) }) },
  lines: { title: "Lines", show: (context) => ({ element: linesPage(context) }) },
  waste: {
    title: "Waste",
    show: (context) => ({ element: wastePage(context as WasteContext) }),
  },
  unreachable: {
    title: "Unreachable",
    show: (context, parameters) => ({
      element: unreachablePage(context as DumpContext, parameters),
    }),
  },
};

/** Dumps from which on there is a chart. */
const TIMELINE = 3;

/** The pages that have a link: of a class there are many, and some need what is not there. */
export function pageNames({ report, status, questions }: PageContext): string[] {
  const absent = new Set(["class"]);
  if (report.comparison === null) absent.add("comparison");
  if (report.waste === null) absent.add("waste");
  if (report.unreachable === null) absent.add("unreachable");
  if (!questions.isComplete) absent.add("where");
  if (status.profiled === null || status.profiled !== status.heap) absent.add("lines");
  if (status.dumps.length < TIMELINE) absent.add("growth");
  return Object.keys(PAGES).filter((name) => !absent.has(name));
}
