-- Best and worst loss among the first k attempts, k = 1 to $1 (CausalDS Table 19). best and worst are
-- over candidates (committed, valid answers): a task has a best loss once one attempt is a candidate,
-- and a worst loss only if all k are. The _fixed columns leave nothing out: what is no candidate has
-- the full loss of its pool.
WITH ks AS (SELECT unnest(range(1, $1 + 1)) AS k),
tasks AS (
    SELECT
        pool, k, task_id,
        min(loss) FILTER (valid)                   AS best,
        CASE WHEN bool_and(valid) THEN max(loss) END AS worst,
        min(fixed_loss)                            AS best_fixed,
        max(fixed_loss)                            AS worst_fixed
    FROM attempts JOIN ks ON attempt <= k
    WHERE pool <> 'pass'
    GROUP BY pool, k, task_id
)
SELECT
    pool, k, count(*) AS tasks,
    median(best)        AS best,       count(best)  AS best_valid,
    median(worst)       AS worst,      count(worst) AS worst_valid,
    median(best_fixed)  AS best_fixed,
    median(worst_fixed) AS worst_fixed
FROM tasks
GROUP BY pool, k
ORDER BY pool, k;
