-- The coverages whose mean calibration.sql reports, with the instance that the bootstrap resamples.
SELECT family || '.' || variant AS level, nominal_coverage AS nominal, instance_id, coverage
FROM scores
WHERE track = 'causalds' AND pool = 'nrel_interval' AND coverage IS NOT NULL
ORDER BY level, nominal, instance_id, task_id;
