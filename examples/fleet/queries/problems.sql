-- Dumps that could not be read, and dumps with warnings, whose numbers may be wrong.
SELECT
  labels['service'] AS service,
  labels['release'] AS release,
  error_code,
  warning_codes,
  count(*) AS dumps,
  count(DISTINCT labels['machine']) AS machines,
  min(source) AS example
FROM dump
WHERE error_code IS NOT NULL OR warning_count > 0
GROUP BY labels['service'], labels['release'], error_code, warning_codes
ORDER BY dumps DESC, example;
