-- The classes that retain the most in the last dump of each machine, over all services. The sizes of different
-- classes overlap, those of different dumps do not.
WITH latest AS (
  SELECT labels['service'] AS service, labels['machine'] AS machine, max(captured_at) AS captured_at
  FROM dump
  WHERE error_code IS NULL
  GROUP BY labels['service'], labels['machine']
)
SELECT
  l.service,
  c.class,
  count(DISTINCT l.machine) AS machines,
  CAST(sum(c.count) AS BIGINT) AS objects,
  CAST(sum(c.shallow_size) AS BIGINT) AS shallow_size,
  CAST(sum(c.retained_set_size) AS BIGINT) AS retained_set_size
FROM latest l
JOIN dump d
  ON d.labels['service'] = l.service AND d.labels['machine'] = l.machine AND d.captured_at = l.captured_at
JOIN class c ON c.dump_id = d.dump_id AND c.date = d.date AND c.module = d.module
GROUP BY l.service, c.class
ORDER BY retained_set_size DESC, service NULLS LAST, class;
