-- What the bootstrap resamples: contexts, and apart from them the contexts of stated values.
SELECT 'simulated' AS part, instance_id AS name, share AS points, 1 AS tasks FROM ccr_contexts
UNION ALL
SELECT 'stated', instance_id, sum(points), count(*) FROM ccr_stated GROUP BY instance_id
ORDER BY part, name;
