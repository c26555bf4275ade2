-- Losses of causalds in both readings, with the instance that the bootstrap resamples.
SELECT losses.reading, scores.instance_id, losses.pool, losses.loss
FROM losses JOIN scores USING (task_id)
WHERE losses.track = 'causalds'
ORDER BY losses.reading, scores.instance_id, task_id;
