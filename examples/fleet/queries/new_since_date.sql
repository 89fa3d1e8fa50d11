-- Paths on which no dump had live objects before a date, by size. A new path is a new leak, or a new feature.
-- Parameter: since (DATE).
WITH seen AS (
  SELECT
    d.labels['service'] AS service,
    d.labels['machine'] AS machine,
    p.fingerprint,
    min(d.date) AS first_date,
    count(*) AS dumps,
    max(p.shallow_size) AS largest_size,
    any_value(d.dump_id) AS dump_id
  FROM dump d
  JOIN path p USING (dump_id, date, module)
  WHERE p.stable
  GROUP BY d.labels['service'], d.labels['machine'], p.fingerprint
),
fresh AS (
  SELECT
    service,
    fingerprint,
    min(first_date) AS first_date,
    count(machine) AS machines,
    sum(dumps) AS dumps,
    max(largest_size) AS largest_size,
    any_value(dump_id) AS dump_id
  FROM seen
  GROUP BY service, fingerprint
  HAVING min(first_date) >= (SELECT max(since) FROM parameter)
)
-- The path itself is read from one dump: it is the same in all.
SELECT
  f.service,
  f.fingerprint,
  f.first_date,
  f.machines,
  CAST(f.dumps AS BIGINT) AS dumps,
  CAST(f.largest_size AS BIGINT) AS largest_size,
  p.path
FROM fresh f
JOIN dump d ON d.dump_id = f.dump_id
JOIN path p ON p.dump_id = d.dump_id AND p.date = d.date AND p.module = d.module AND p.fingerprint = f.fingerprint
ORDER BY largest_size DESC, f.service NULLS LAST, f.fingerprint;
