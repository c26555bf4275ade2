-- Two tasks with one prompt are one task that counts twice; ids, which differ anyhow, are left out.
-- Views of one instance may ask the same: a variant that needs no data is asked in the same words.
SELECT max(task_id) || ' and ' || min(task_id) || ': the same prompt' AS problem
FROM tasks
GROUP BY md5(replace(prompt, task_id, ''))
HAVING count(DISTINCT (instance_id, family, variant)) > 1 OR count(DISTINCT view) < count(*)
ORDER BY problem
