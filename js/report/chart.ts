/** Lines over dumps, in SVG. */
import { element, svg } from "./dom.ts";
import * as format from "./format.ts";

const WIDE = 720;
const NARROW = 400;
const HEIGHT = 220;
const LEFT = 84;
const RIGHT = 16;
const TOP = 14;
const BOTTOM = 34;
/** Lines across. */
const STEPS = 4;
/** Names below. */
const MOST_NAMES = 6;

/** The live bytes of each dump. */
export function lineChart(label: string, names: string[], values: number[]): HTMLElement {
  const isNarrow = innerWidth < WIDE;
  const width = isNarrow ? NARROW : WIDE;
  const top = niceTop(Math.max(1, ...values));
  const x = (nth: number) => LEFT + (nth * (width - LEFT - RIGHT)) / Math.max(1, values.length - 1);
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const points = values.map((value, nth) => `${x(nth)},${y(value)}`).join(" ");
  const levels = Array.from({ length: STEPS + 1 }, (_, nth) => (top * nth) / STEPS);
  const every = Math.ceil(names.length / (isNarrow ? MOST_NAMES / 2 : MOST_NAMES));
  return element(
    "div",
    { class: "chart-box" },
    svg(
      "svg",
      {
        class: "chart",
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: "img",
        "aria-label": `${label}: from ${format.bytes(values[0] ?? 0)} to ${format.bytes(values.at(-1) ?? 0)} over ${format.counted(values.length, "dump")}`,
      },
      ...levels.map((level) =>
        svg(
          "g",
          {},
          svg("line", { class: "level", x1: LEFT, x2: width - RIGHT, y1: y(level), y2: y(level) }),
          svg(
            "text",
            { x: LEFT - 10, y: y(level) + 4, "text-anchor": "end" },
            format.bytes(Math.round(level)),
          ),
        ),
      ),
      svg("polyline", { class: "line", points }),
      ...values.map((value, nth) =>
        svg(
          "circle",
          { class: "point", cx: x(nth), cy: y(value), r: 3.5 },
          svg("title", {}, `${format.printable(names[nth] ?? "")}: ${format.bytes(value)}`),
        ),
      ),
      ...names.map(
        (name, nth) =>
          nth % every === 0 &&
          svg(
            "text",
            {
              x: x(nth),
              y: HEIGHT - 12,
              "text-anchor": nth === 0 ? "start" : nth === names.length - 1 ? "end" : "middle",
            },
            shortened(format.printable(name)),
          ),
      ),
    ),
  );
}

/** A small line, whose numbers stand beside it. */
export function sparkline(values: (number | null)[]): SVGElement {
  const known = values.filter((value) => value !== null);
  const top = Math.max(1, ...known);
  const points = values
    .map((value, nth) =>
      value === null
        ? ""
        : `${2 + (nth * 86) / Math.max(1, values.length - 1)},${22 - (value / top) * 20}`,
    )
    .filter((point) => point !== "");
  return svg(
    "svg",
    { class: "sparkline", viewBox: "0 0 90 24", "aria-hidden": "true" },
    svg("polyline", { class: "line", points: points.join(" ") }),
  );
}

/** The next round number of bytes. */
function niceTop(value: number): number {
  const unit = 1024 ** Math.floor(Math.log(value) / Math.log(1024));
  const part = value / unit;
  const nice = [
    1, 2, 4, 8, 16, 20, 32, 40, 64, 80, 128, 160, 200, 256, 320, 400, 512, 640, 800, 1024,
  ];
  return (nice.find((one) => one >= part) ?? 1024) * unit;
}

function shortened(name: string): string {
  return name.length > 16 ? `${name.slice(0, 15)}…` : name;
}
