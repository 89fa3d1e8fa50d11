/** What grows over the dumps: the live bytes as a chart, and each place with a small line. */
import type { GrowingPlace } from "../../answers.js";
import { lineChart, sparkline } from "./chart.ts";
import { copyButton } from "./copy.ts";
import { type Child, element } from "./dom.ts";
import * as format from "./format.ts";
import { later } from "./later.ts";
import { breakable, classLink, type PageContext, sectionTitle } from "./parts.ts";
import { routeHash } from "./route.ts";

/** Places that are listed. */
const PLACES = 50;
/** The number of dumps from which growth can be told from chance. */
const ENOUGH = 8;

export function growthPage(context: PageContext): HTMLElement {
  return element(
    "div",
    {},
    later(() => load(context), "Comparing all dumps…"),
  );
}

async function load({ questions, status, report }: PageContext): Promise<Child[]> {
  const { dumps, places, perInterval, page } = await questions.ask("growth", { limit: PLACES });
  const values = dumps.map(({ totalLiveSize }) => totalLiveSize);
  const names = status.dumps.map(({ name }) => name);
  const set = status.before === null ? "live" : "new";
  const few = `With fewer than ${ENOUGH} dumps, some of this may be chance.`;
  return [
    element(
      "p",
      { class: "lead" },
      `Live bytes over ${format.counted(dumps.length, "dump")}: ${format.signedBytes(Math.round(perInterval.live))} from dump to dump on average.`,
      dumps.length < ENOUGH && ` ${few}`,
    ),
    lineChart("Live bytes", names.slice(0, values.length), values),
    sectionTitle("Places that grow", format.count(page.total)),
    places.length === 0
      ? element("p", { class: "empty" }, "No place grows in every interval.")
      : element(
          "ol",
          { class: "suspects" },
          ...places.map((place) => element("li", {}, placeView(place, set, questions.isComplete))),
        ),
    page.next !== null &&
      element(
        "p",
        { class: "muted" },
        `${format.count(page.total - page.listed)} more: the command growth lists them. The newest dump is ${format.printable(report.dump)}.`,
      ),
  ];
}

function placeView(place: GrowingPlace, set: "live" | "new", isComplete: boolean): HTMLElement {
  const { className, counts, retained, perInterval, path, label, fingerprint, folded } = place;
  const [first, last] = [counts.find((one) => one !== null) ?? 0, counts.at(-1) ?? 0];
  const sizes = retained.filter((one) => one !== null);
  const isBlocks = className.startsWith("(");
  const shown = path ?? (label === null ? className : `${label} ${className}`);
  return element(
    "article",
    {},
    element(
      "header",
      {},
      element("h3", {}, isBlocks ? className : classLink(className, set)),
      element(
        "span",
        { class: "figure more" },
        format.signedBytes((sizes.at(-1) ?? 0) - (sizes[0] ?? 0)),
      ),
      sparkline(retained),
      element(
        "span",
        { class: "muted" },
        `${format.count(first)} → ${format.counted(last, "object")}, ${format.signedCount(perInterval.count)} a dump`,
      ),
    ),
    element("p", { class: "prose path-text" }, ...breakable(format.className(shown))),
    element(
      "p",
      { class: "muted" },
      `Fingerprint ${fingerprint}`,
      folded.length > 0 && `; ${format.counted(folded.length, "place")} grow with it`,
      " ",
      isComplete &&
        !isBlocks &&
        element("a", { href: routeHash("where", { place: fingerprint }) }, "Its objects"),
      " ",
      copyButton(
        `${className} at ${shown}: ${counts.join(", ")} objects; fingerprint ${fingerprint}`,
      ),
    ),
  );
}
