-- Median over tasks of the sample SD of the loss, over tasks answered validly in all $1 attempts
-- (CausalDS Table 20).
WITH tasks AS (
    SELECT pool, task_id, stddev_samp(loss) AS sd
    FROM attempts
    WHERE valid AND pool <> 'pass'
    GROUP BY pool, task_id
    HAVING count(*) = $1
)
SELECT pool, count(*) AS tasks, median(sd) AS run_sd
FROM tasks
GROUP BY pool
ORDER BY pool;
