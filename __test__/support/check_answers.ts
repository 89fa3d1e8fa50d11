/** Answers of checks for the tests of their reports. */
import type { CheckAnswer, GrowingPlace } from "../../index.js";

const LISTENER = "assembly/server/PriceListener";

export function growingPlace(change: Partial<GrowingPlace> = {}): GrowingPlace {
  return {
    root: { kind: "global", name: "assembly/server/prices" },
    path: `global assembly/server/prices > assembly/server/PriceFeed.listeners > ~lib/array/Array<${LISTENER}>[*] > ${LISTENER}`,
    label: "[*]",
    className: LISTENER,
    fingerprint: "de8e6b05a684",
    stable: true,
    counts: [40, 80, 120, 160, 200, 240, 280, 320],
    bytes: [1600, 3200, 4800, 6400, 8000, 9600, 11200, 12800],
    retained: [2600, 5200, 7800, 10400, 13000, 15600, 18200, 20800],
    perInterval: { count: 40, bytes: 1600, retained: 2600 },
    folded: [],
    ...change,
  };
}

/** An answer in which the default rule and a budget are broken, and another one is not. */
export function brokenAnswer(place = growingPlace()): CheckAnswer {
  const places = [place.fingerprint];
  return {
    schemaVersion: 2,
    passed: false,
    rules: [
      { rule: "default", limit: 0, actual: 1, passed: false, places },
      { rule: "max-live", limit: 10_240, actual: 20_480, passed: false, places: [] },
      { rule: "max *Session", limit: 100, actual: 7, passed: true, places: [] },
    ],
    perInterval: { live: 2600, explained: 2600 },
    places: [place],
    accepted: ["87032b86f474"],
    gone: ["b14b1f3f5053"],
    undecided: [],
    partial: false,
    warnings: [],
  };
}

export function passedAnswer(): CheckAnswer {
  const { rules, ...rest } = brokenAnswer();
  const passed = rules.map((rule) => ({ ...rule, passed: true, actual: 0, places: [] }));
  return { ...rest, passed: true, rules: passed, places: [], accepted: [], gone: [] };
}

/** What a class name can contain to break out of some format. */
export const HOSTILE_NAMES = [
  `</failure><testcase name="x"/>`,
  `]]><!-- & "quoted" 'single' &amp;`,
  "line\nbreak\r\n::error::injected",
  "\0control\u001b[31m\ud800lone",
  "%0A::warning::x,file=y:z",
  "`code` ``more`` [link](https://example.com) ![image](x) <script>alert(1)</script> | cell | @mention #1",
  "trailing `",
  "\u202eright to left",
  "{0} {name} ](https://example.com)",
];
