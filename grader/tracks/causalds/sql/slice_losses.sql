-- What the bootstrap resamples for each slice of causalds: loss and points of every task.
SELECT axis, level, instance_id, axes.points, axes.floor, losses.reading, losses.pool, losses.loss
FROM axes LEFT JOIN losses USING (task_id)
WHERE axes.track = 'causalds'
ORDER BY axis, level, losses.reading, instance_id, task_id;
