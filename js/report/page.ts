/**
 * The page of a report and of the explorer. It shows the part that the address names. Names and contents come from an
 * untrusted program: they become text nodes only.
 */
import "./page.css";
import type { Status } from "../explorer/methods.js";
import { engineInside } from "./app_questions.ts";
import { chosenQuestions } from "./chooser.ts";
import { type Report, readReport } from "./data.ts";
import { element, fill } from "./dom.ts";
import { EditorQuestions, isInEditor } from "./editor_questions.ts";
import { FileQuestions, openCommand } from "./file_questions.ts";
import * as format from "./format.ts";
import { commandLine, failure } from "./later.ts";
import { newDumpNotice } from "./new_dumps.ts";
import { ObjectPane } from "./object_pane.ts";
import { PAGES, type PageView, pageNames } from "./pages.ts";
import { liveSize, type PageContext } from "./parts.ts";
import { type Questions, ServedQuestions } from "./questions.ts";
import { followRoutes, goBack, openObject, parseRoute, routeHash, showsRoute } from "./route.ts";
import { Search } from "./search.ts";
import { themeButton } from "./theme.ts";
import { showKind } from "./waste.ts";

/** Milliseconds between two looks at how far the reading is. */
const PAUSE = 250;

async function start(): Promise<void> {
  const data = document.getElementById("data")?.textContent;
  const questions = await questionsOf(data);
  const status = await readStatus(questions);
  const report = await questions.report(status);
  run({ report, questions, status, cellOf: cellsByObject(report) });
}

async function questionsOf(data: string | null | undefined): Promise<Questions> {
  if (data !== null && data !== undefined) return new FileQuestions(await readReport(data));
  const engine = engineInside();
  if (engine !== undefined) return await chosenQuestions(engine);
  return isInEditor() ? new EditorQuestions() : new ServedQuestions();
}

/** Waits until a dump was read, and says how far that is. */
async function readStatus(questions: Questions): Promise<Status> {
  const line = element("p", { class: "reading", role: "status" }, "Reading…");
  const main = element("main", {}, element("h1", { class: "visually-hidden" }, "Reading"), line);
  for (;;) {
    const status = await questions.ask("status", {});
    // All dumps that were named are read first, as what they are compared with is among them.
    if (status.heap !== null && status.reading === null) {
      main.remove();
      return status;
    }
    if (!main.isConnected) document.body.append(main);
    const [failed] = status.failures;
    line.textContent =
      status.reading !== null
        ? `Reading ${format.printable(status.reading.name)}: ${Math.floor(status.reading.fraction * 100)} %`
        : failed !== undefined
          ? `${format.printable(failed.name)} cannot be read: ${format.printable(failed.message)}`
          : "Waiting for the first dump…";
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

function run(context: PageContext): void {
  const { report, status } = context;
  const names = pageNames(context);
  const links = new Map(
    names.map((name) => [name, element("a", { href: routeHash(name) }, PAGES[name]?.title ?? "")]),
  );
  const main = element("main", { id: "main", tabindex: "-1" });
  const pane = new ObjectPane(context);
  const search = new Search(context, names);
  let view: PageView | undefined;
  const redraw = () => view?.redraw?.();

  const show = (isFirst: boolean, isBack: boolean) => {
    const { page: asked, parameters } = parseRoute(location.hash);
    const object = openObject();
    parameters.delete("object");
    const route = routeHash(asked, Object.fromEntries(parameters));
    // Only the pane changes if only the object does.
    if (showsRoute(route)) {
      const page =
        asked in PAGES && (names.includes(asked) || asked === "class") ? asked : undefined;
      for (const [name, link] of links) {
        if (name === (page === "class" ? "classes" : page))
          link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      const kind = page === undefined ? undefined : PAGES[page];
      const title = kind?.title ?? "No such page";
      document.title = `${title} – ${format.printable(report.dump)} – Heap report`;
      view = kind?.show(context, parameters) ?? { element: noPage(asked, names) };
      fill(main, element("h1", {}, title), view.element);
      if (!isFirst && !isBack && object === undefined) main.focus({ preventScroll: true });
      if (page === "waste" && parameters.has("kind")) showKind(parameters);
      else if (!isFirst && !isBack) scrollTo(0, 0);
    }
    pane.show(object);
    if (object !== undefined && !isFirst && !isBack) pane.focus();
  };

  fill(
    document.body,
    element(
      "a",
      { class: "skip", href: "#main", on: { click: (event) => skip(event, main) } },
      "To the contents",
    ),
    header(context, [...links.values()], search),
    newDumpNotice(context),
    element("div", { class: "with-pane" }, main, pane.element),
    search.element,
    footer(context),
  );
  document.documentElement.classList.toggle("is-served", context.questions.isComplete);
  document.documentElement.classList.toggle("is-joined", report.summary.joined !== undefined);
  for (const { name, message } of status.failures) {
    main.before(failure(`${format.printable(name)} cannot be read: ${format.printable(message)}`));
  }
  show(true, false);
  followRoutes((isBack) => show(false, isBack));
  // The canvas has no styles of its own to change.
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", redraw);
  }
  const attributeFilter = ["data-theme"];
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter });
}

/** Says which page there is not, instead of another page. */
function noPage(asked: string, names: string[]): HTMLElement {
  const absent = asked in PAGES ? "This heap has no page" : "There is no page";
  return element(
    "div",
    { class: "empty" },
    element("p", {}, `${absent} “${format.printable(asked)}”. The pages are:`),
    element(
      "ul",
      {},
      ...names.map((name) =>
        element("li", {}, element("a", { href: routeHash(name) }, PAGES[name]?.title ?? "")),
      ),
    ),
  );
}

/** Moves the focus without changing the address. */
function skip(event: Event, main: HTMLElement): void {
  event.preventDefault();
  main.focus();
}

function header(
  { report, questions }: PageContext,
  links: HTMLElement[],
  search: Search,
): HTMLElement {
  // An editor has its own theme, and no button of its own that goes back.
  const button = questions.editor === null ? themeButton() : backButton();
  const { summary } = report;
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
          "a",
          { href: routeHash("overview") },
          element("bdi", {}, format.printable(report.dump)),
        ),
      ),
      element(
        "p",
        { class: "muted" },
        `${liveSize(summary)} live in ${format.counted(summary.objects.live, "object")}`,
        summary.totalHeapSize !== undefined && `, heap ${format.bytes(summary.totalHeapSize)}`,
      ),
      element("div", { class: "tools" }, search.button(), button),
    ),
    element("nav", { class: "pages", aria: { label: "Pages" } }, ...links),
  );
}

function backButton(): HTMLElement {
  return element("button", { type: "button", class: "back", on: { click: goBack } }, "Back");
}

function footer({ report, questions }: PageContext): HTMLElement {
  const made = `Made by warpo-heap-analyzer ${report.version}. `;
  return element(
    "footer",
    {},
    element(
      "p",
      {},
      made,
      questions.isComplete
        ? "This page asks only the analyzer on this machine."
        : "This file loads nothing, and has the largest objects only.",
    ),
    !questions.isComplete && commandLine(openCommand(report)),
  );
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
  const main = element("main", {}, element("h1", {}, "This heap cannot be shown"), failure(error));
  fill(document.body, main);
});
