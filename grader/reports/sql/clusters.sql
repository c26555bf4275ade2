-- Sums per instance, the unit the bootstrap resamples.
SELECT track, instance_id, sum(points) AS points, count(*) AS tasks
FROM scores
GROUP BY track, instance_id
ORDER BY track, instance_id;
