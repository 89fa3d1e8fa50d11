/** The answers to the queries, computed from the dumps without tables, by loops that anybody can follow. */
import type { Fleet, Known } from "./dumps.ts";

export type Answer = Record<string, unknown>[];

/** Values by key. */
function grouped<T>(values: Iterable<T>, key: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return groups;
}

const distinct = (values: string[]) => new Set(values).size;
const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);

/** Every path of every dump. */
function occurrences({ known }: Fleet) {
  return known.flatMap((dump) =>
    [...dump.paths].map(([fingerprint, { size }]) => ({ dump, fingerprint, size })),
  );
}

const place = ({ dump, fingerprint }: { dump: Known; fingerprint: string }) =>
  `${dump.labels.service} ${fingerprint}`;

export function newSinceDate(fleet: Fleet, since: string): Answer {
  const groups = grouped(occurrences(fleet), place).values();
  return [...groups]
    .map((all) => ({
      service: all[0]?.dump.labels.service,
      fingerprint: all[0]?.fingerprint,
      first_date: all.map(({ dump }) => dump.capturedAt.slice(0, 10)).sort()[0] as string,
      machines: distinct(all.map(({ dump }) => dump.labels.machine)),
      dumps: distinct(all.map(({ dump }) => dump.id)),
      largest_size: Math.max(...all.map(({ size }) => size)),
    }))
    .filter(({ first_date }) => first_date >= since);
}

export function newSinceRelease(fleet: Fleet, release: string): Answer {
  const answer: Answer = [];
  for (const all of grouped(occurrences(fleet), place).values()) {
    const service = all[0]?.dump.labels.service;
    const ofService = fleet.known.filter(({ labels }) => labels.service === service);
    const released = ofService.filter(({ labels }) => labels.release === release);
    const since = released.map(({ capturedAt }) => capturedAt).sort()[0];
    if (since === undefined || all.some(({ dump }) => dump.capturedAt < since)) continue;
    const its = all.filter(({ dump }) => dump.labels.release === release);
    if (its.length === 0) continue;
    answer.push({
      service,
      fingerprint: all[0]?.fingerprint,
      machines: distinct(its.map(({ dump }) => dump.labels.machine)),
      dumps: distinct(its.map(({ dump }) => dump.id)),
      largest_size: Math.max(...all.map(({ size }) => size)),
    });
  }
  return answer;
}

export function growth({ known }: Fleet): Answer {
  const runs = grouped(known, ({ labels, wasm }) => `${labels.service} ${labels.machine} ${wasm}`);
  const changes: { service: string; machine: string; fingerprint: string; change: number }[] = [];
  for (const run of runs.values()) {
    if (run.length < 2) continue;
    const times = run.map(({ capturedAt }) => capturedAt).sort();
    const sizes = (time: string | undefined) => {
      const dumps = run.filter(({ capturedAt }) => capturedAt === time);
      const paths = dumps.flatMap(({ paths }) => [...paths]);
      return grouped(paths, ([fingerprint]) => fingerprint);
    };
    const [first, last] = [sizes(times[0]), sizes(times.at(-1))];
    const size = (of: typeof first, fingerprint: string) =>
      sum((of.get(fingerprint) ?? []).map(([, { size }]) => size));
    for (const fingerprint of new Set([...first.keys(), ...last.keys()])) {
      const { service, machine } = (run[0] as Known).labels;
      const change = size(last, fingerprint) - size(first, fingerprint);
      changes.push({ service, machine, fingerprint, change });
    }
  }
  const groups = grouped(changes, ({ service, fingerprint }) => `${service} ${fingerprint}`);
  return [...groups.values()]
    .map((all) => ({
      service: all[0]?.service,
      fingerprint: all[0]?.fingerprint,
      machines: distinct(all.map(({ machine }) => machine)),
      machines_growing: distinct(
        all.filter(({ change }) => change > 0).map(({ machine }) => machine),
      ),
      growth: sum(all.map(({ change }) => change)),
      largest_growth: Math.max(...all.map(({ change }) => change)),
    }))
    .filter(({ growth }) => growth > 0);
}

/** The last dumps of each machine that can be read. */
function latest({ known }: Fleet): Known[] {
  const machines = grouped(known, ({ labels }) => `${labels.service} ${labels.machine}`);
  return [...machines.values()].flatMap((dumps) => {
    const last = dumps
      .map(({ capturedAt }) => capturedAt)
      .sort()
      .at(-1);
    return dumps.filter(({ capturedAt }) => capturedAt === last);
  });
}

export function topClasses(fleet: Fleet): Answer {
  const rows = latest(fleet).flatMap(({ labels, classes }) =>
    classes.map((row) => ({ ...labels, ...row })),
  );
  return [...grouped(rows, ({ service, name }) => `${service} ${name}`).values()].map((all) => ({
    service: all[0]?.service,
    class: all[0]?.name,
    machines: distinct(all.map(({ machine }) => machine)),
    objects: sum(all.map(({ count }) => count)),
    shallow_size: sum(all.map(({ shallow }) => shallow)),
    retained_set_size: sum(all.map(({ retained }) => retained)),
  }));
}

export function waste(fleet: Fleet): Answer {
  const rows = latest(fleet).flatMap(({ id, labels, waste }) =>
    waste.map((row) => ({ id, service: labels.service, ...row })),
  );
  const wasted = rows.filter(({ count }) => count > 0);
  return [...grouped(wasted, ({ kind }) => kind).values()].map((all) => ({
    kind: all[0]?.kind,
    services: distinct(all.map(({ service }) => service)),
    dumps: distinct(all.map(({ id }) => id)),
    objects: sum(all.map(({ count }) => count)),
    savings: sum(all.map(({ savings }) => savings)),
  }));
}

export function problems({ known, unreadable }: Fleet): Answer {
  const warned = known
    .filter(({ warnings }) => warnings.length > 0)
    .map(({ labels, dump, warnings }) => ({ ...labels, dump, code: null, warnings }));
  const spoilt = unreadable.map(({ dump, code }) => ({
    ...dump.labels,
    dump: dump.dump,
    code,
    warnings: [],
  }));
  const groups = grouped(
    [...warned, ...spoilt],
    ({ service, release, code, warnings }) => `${service} ${release} ${code} ${warnings}`,
  );
  return [...groups.values()].map((all) => ({
    service: all[0]?.service,
    release: all[0]?.release,
    error_code: all[0]?.code,
    warning_codes: all[0]?.warnings,
    dumps: all.length,
    machines: distinct(all.map(({ machine }) => machine)),
    example: all.map(({ dump }) => dump).sort()[0],
  }));
}
