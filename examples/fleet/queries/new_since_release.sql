-- Paths of a release that no dump of its service has that was taken before the first dump of this release, by size.
-- Parameter: release (STRING).
WITH described AS (
  SELECT
    d.dump_id,
    d.date,
    d.module,
    d.labels['service'] AS service,
    d.labels['machine'] AS machine,
    d.captured_at,
    d.labels['release'] = r.release AS is_of_release
  FROM dump d
  CROSS JOIN (SELECT max(release) AS release FROM parameter) r
),
released AS (
  SELECT service, min(captured_at) AS since
  FROM described
  WHERE is_of_release
  GROUP BY service
),
dumps AS (
  SELECT d.dump_id, d.date, d.module, d.service, d.machine, d.is_of_release, d.captured_at < r.since AS is_before
  FROM described d
  JOIN released r ON r.service = d.service
),
seen AS (
  SELECT
    d.service,
    d.machine,
    p.fingerprint,
    sum(CASE WHEN d.is_before THEN 1 ELSE 0 END) AS dumps_before,
    sum(CASE WHEN d.is_of_release THEN 1 ELSE 0 END) AS dumps,
    max(p.shallow_size) AS largest_size,
    any_value(d.dump_id) AS dump_id
  FROM dumps d
  JOIN path p USING (dump_id, date, module)
  WHERE p.stable
  GROUP BY d.service, d.machine, p.fingerprint
),
fresh AS (
  SELECT
    service,
    fingerprint,
    count(CASE WHEN dumps > 0 THEN machine END) AS machines,
    sum(dumps) AS dumps,
    max(largest_size) AS largest_size,
    any_value(dump_id) AS dump_id
  FROM seen
  GROUP BY service, fingerprint
  HAVING sum(dumps_before) = 0 AND sum(dumps) > 0
)
-- The path itself is read from one dump: it is the same in all.
SELECT
  f.service,
  f.fingerprint,
  f.machines,
  CAST(f.dumps AS BIGINT) AS dumps,
  CAST(f.largest_size AS BIGINT) AS largest_size,
  p.path
FROM fresh f
JOIN dump d ON d.dump_id = f.dump_id
JOIN path p ON p.dump_id = d.dump_id AND p.date = d.date AND p.module = d.module AND p.fingerprint = f.fingerprint
ORDER BY largest_size DESC, f.service NULLS LAST, f.fingerprint;
