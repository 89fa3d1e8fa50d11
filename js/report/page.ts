/**
 * The page of a report. It reads the data of its file, and shows the part that the address names. Names
 * and contents come from an untrusted program: they become text nodes only.
 */
import "./page.css";
import { classesPage } from "./classes.ts";
import { comparisonPage } from "./comparison.ts";
import { type Report, readReport } from "./data.ts";
import { element, fill } from "./dom.ts";
import { dominatorsPage } from "./dominators.ts";
import * as format from "./format.ts";
import { overviewPage } from "./overview.ts";
import type { Context, DumpContext } from "./parts.ts";
import { parseRoute, routeHash } from "./route.ts";
import { unreachablePage } from "./unreachable.ts";
import { showKind, wastePage } from "./waste.ts";

interface PageView {
  element: HTMLElement;
  redraw?: () => void;
}

interface PageKind {
  title: string;
  show: (context: Context, parameters: URLSearchParams) => PageView;
}

const PAGES: Record<string, PageKind> = {
  overview: { title: "Overview", show: (context) => ({ element: overviewPage(context) }) },
  classes: {
    title: "Classes",
    show: (context, parameters) => ({ element: classesPage(context, parameters) }),
  },
  dominators: { title: "Dominators", show: dominatorsPage },
  comparison: { title: "Comparison", show: (context) => ({ element: comparisonPage(context) }) },
  waste: { title: "Waste", show: (context) => ({ element: wastePage(context) }) },
  unreachable: {
    title: "Unreachable",
    show: (context, parameters) => ({
      element: unreachablePage(context as DumpContext, parameters),
    }),
  },
};

async function start(): Promise<void> {
  const data = document.getElementById("data")?.textContent ?? "";
  const report = await readReport(data);
  const context: Context = { report, cellOf: cellsByObject(report) };
  const absent = [
    ...(report.comparison === null ? ["comparison"] : []),
    ...(report.unreachable === null ? ["unreachable"] : []),
  ];
  const names = Object.keys(PAGES).filter((name) => !absent.includes(name));
  const links = new Map(
    names.map((name) => [name, element("a", { href: routeHash(name) }, PAGES[name]?.title ?? "")]),
  );
  const main = element("main", { id: "main", tabindex: "-1" });
  let view: PageView | undefined;
  const redraw = () => view?.redraw?.();

  const show = (isFirst: boolean) => {
    const { page, parameters } = parseRoute(location.hash);
    const name = names.includes(page) ? page : "overview";
    const { title, show } = PAGES[name] as PageKind;
    for (const [of, link] of links) {
      if (of === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${title} – ${format.printable(fileName(report.dump))} – Heap report`;
    view = show(context, parameters);
    fill(main, element("h1", {}, title), view.element);
    if (!isFirst) main.focus({ preventScroll: true });
    if (name === "waste" && parameters.has("kind")) showKind(parameters);
    else if (!isFirst) scrollTo(0, 0);
  };

  fill(
    document.body,
    element(
      "a",
      { class: "skip", href: "#main", on: { click: (event) => skip(event, main) } },
      "To the contents",
    ),
    header(report, [...links.values()], redraw),
    main,
    element(
      "footer",
      {},
      `Made by warpo-heap-analyzer ${report.version}. This file loads nothing.`,
    ),
  );
  show(true);
  addEventListener("hashchange", () => show(false));
  // The canvas has no styles of its own to change.
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", redraw);
  }
}

/** Moves the focus without changing the address. */
function skip(event: Event, main: HTMLElement): void {
  event.preventDefault();
  main.focus();
}

function header(report: Report, links: HTMLElement[], redraw: () => void): HTMLElement {
  const { summary } = report;
  const toggle = element("button", { type: "button", class: "theme" });
  const root = document.documentElement;
  const isDark = () =>
    root.dataset.theme === undefined
      ? matchMedia("(prefers-color-scheme: dark)").matches
      : root.dataset.theme === "dark";
  const label = () => {
    toggle.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return element(
    "header",
    { class: "top" },
    element(
      "div",
      { class: "title" },
      element(
        "p",
        { class: "name" },
        "Heap of ",
        element(
          "bdi",
          { title: format.printable(report.dump) },
          format.printable(fileName(report.dump)),
        ),
      ),
      element(
        "p",
        { class: "muted" },
        `${format.bytes(summary.totalLiveSize)} live in ${format.counted(summary.objects.live, "object")}`,
        summary.totalHeapSize !== undefined && `, heap ${format.bytes(summary.totalHeapSize)}`,
      ),
      toggle,
    ),
    element("nav", { class: "pages", aria: { label: "Pages" } }, ...links),
  );
}

function fileName(path: string): string {
  return path.slice(path.search(/[^\\/]*$/));
}

function cellsByObject({ cells }: Report): Map<number, number> {
  const found = new Map<number, number>();
  for (const [cell, address] of cells.address.entries()) {
    const kind = cells.kind[cell];
    if (address !== null && (kind === "object" || kind === "chain")) found.set(address, cell);
  }
  return found;
}

start().catch((error: unknown) => {
  document.body.append(element("p", {}, `This report cannot be shown: ${String(error)}`));
});
