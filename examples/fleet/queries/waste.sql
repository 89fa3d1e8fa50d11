-- What each kind of waste costs in the last dump of each machine, over all services.
WITH latest AS (
  SELECT labels['service'] AS service, labels['machine'] AS machine, max(captured_at) AS captured_at
  FROM dump
  WHERE error_code IS NULL
  GROUP BY labels['service'], labels['machine']
)
SELECT
  w.kind,
  count(DISTINCT l.service) AS services,
  count(DISTINCT d.dump_id) AS dumps,
  CAST(sum(w.count) AS BIGINT) AS objects,
  CAST(sum(w.savings) AS BIGINT) AS savings
FROM latest l
JOIN dump d
  ON d.labels['service'] = l.service AND d.labels['machine'] = l.machine AND d.captured_at = l.captured_at
JOIN waste w ON w.dump_id = d.dump_id AND w.date = d.date AND w.module = d.module
GROUP BY w.kind
ORDER BY savings DESC, w.kind;
