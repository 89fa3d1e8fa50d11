-- How each path grows: its size in the last dump less that in the first one, for each machine and build, and on how
-- many machines it grows. A path that is not in a dump has no bytes there.
WITH runs AS (
  SELECT
    labels['service'] AS service,
    labels['machine'] AS machine,
    module,
    min(captured_at) AS first_time,
    max(captured_at) AS last_time
  FROM dump
  WHERE error_code IS NULL
  GROUP BY labels['service'], labels['machine'], module
  HAVING count(*) > 1
),
ends AS (
  SELECT d.dump_id, d.date, d.module, r.service, r.machine, d.captured_at = r.last_time AS is_last
  FROM runs r
  JOIN dump d ON d.labels['service'] = r.service AND d.labels['machine'] = r.machine AND d.module = r.module
  WHERE d.captured_at = r.first_time OR d.captured_at = r.last_time
),
sizes AS (
  SELECT
    e.service,
    e.machine,
    e.module,
    p.fingerprint,
    sum(CASE WHEN e.is_last THEN CAST(p.shallow_size AS BIGINT) ELSE -CAST(p.shallow_size AS BIGINT) END) AS growth,
    any_value(e.dump_id) AS dump_id
  FROM ends e
  JOIN path p USING (dump_id, date, module)
  WHERE p.stable
  GROUP BY e.service, e.machine, e.module, p.fingerprint
),
grown AS (
  SELECT
    service,
    fingerprint,
    count(DISTINCT machine) AS machines,
    count(DISTINCT CASE WHEN growth > 0 THEN machine END) AS machines_growing,
    sum(growth) AS growth,
    max(growth) AS largest_growth,
    any_value(dump_id) AS dump_id
  FROM sizes
  GROUP BY service, fingerprint
  HAVING sum(growth) > 0
)
-- The path itself is read from one dump: it is the same in all.
SELECT
  g.service,
  g.fingerprint,
  g.machines,
  g.machines_growing,
  CAST(g.growth AS BIGINT) AS growth,
  CAST(g.largest_growth AS BIGINT) AS largest_growth,
  p.path
FROM grown g
JOIN dump d ON d.dump_id = g.dump_id
JOIN path p ON p.dump_id = d.dump_id AND p.date = d.date AND p.module = d.module AND p.fingerprint = g.fingerprint
ORDER BY growth DESC, g.service NULLS LAST, g.fingerprint;
