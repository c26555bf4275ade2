-- Every program of the cohorts that Tables F.1 to F.5 compare: how far its answer replays. Nothing
-- where the exam has no base cohort.
WITH marks AS (
    SELECT
        CASE WHEN matched = 1 THEN replace(structure, '-Full', '-Match') ELSE structure END AS pool,
        instance_id,
        coalesce(train_exact, 0)         AS train_exact,
        coalesce(train_world_exact, 0)   AS train_world_exact,
        coalesce(heldout_world_exact, 0) AS heldout_world_exact
    FROM replayscm_marks
)
SELECT pool, instance_id AS program, train_exact, train_world_exact, heldout_world_exact
FROM marks
WHERE pool IN ('Ord-Base', 'Ord-Match', 'Ord-Ext', 'Hid-Base', 'Hid-Match', 'Hid-Ext')
  AND EXISTS (SELECT 1 FROM marks WHERE pool LIKE '%-Base')
ORDER BY pool, program;
