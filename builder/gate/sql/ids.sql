-- An id that stands twice would give one answer two truths; rows in the order of their making would
-- tell which came first. Tracks share no id either: without its prefix it names one task or instance.
SELECT place || ': ' || id || ' appears ' || count(*) || ' times' AS problem
FROM ids GROUP BY place, id HAVING count(*) > 1
UNION ALL
SELECT place || ': rows are not sorted by id'
FROM (
  SELECT place, id < lag(id) OVER (PARTITION BY place ORDER BY filename, file_row_number) AS back
  FROM ids
)
WHERE back GROUP BY place
UNION ALL
SELECT 'id ' || split_part(id, '-', -1) || ' is used ' || count(*) || ' times'
FROM (
  SELECT task_id AS id FROM tasks
  UNION ALL
  SELECT DISTINCT instance_id FROM instances
)
GROUP BY split_part(id, '-', -1) HAVING count(*) > 1
UNION ALL
SELECT coalesce(instances.instance_id, worlds.instance_id)
  || ': an instance without a world, or a world without an instance'
FROM instances FULL JOIN worlds USING (split, track, instance_id)
WHERE instances.instance_id IS NULL OR worlds.instance_id IS NULL
ORDER BY problem
