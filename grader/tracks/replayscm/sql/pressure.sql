-- Replay by shortcut pressure (Table F.6): programs of a pool by the share of mechanisms of which a
-- shortcut had to be ruled out while the training worlds were chosen. Releases without it give nothing.
SELECT
    structure                                             AS pool,
    CASE WHEN kill_coverage <= 0.5 THEN '≤ 0.50'
         WHEN kill_coverage <= 0.75 THEN '0.50–0.75'
         ELSE '> 0.75' END                                AS bin,
    count(*)                                              AS tasks,
    avg(coalesce(heldout_world_exact, 0))                 AS heldout_world_exact,
    avg(coalesce(heldout_world_exact, 0))
        / nullif(avg(coalesce(train_world_exact, 0)), 0)  AS retention,
    CAST(sum(coalesce(train_exact, 0)) AS BIGINT)         AS n_train_exact,
    avg(heldout_world_exact) FILTER (train_exact = 1)     AS heldout_world_given_train
FROM replayscm_marks
WHERE kill_coverage IS NOT NULL AND structure IN ('Ord-Full', 'Hid-Full', 'Ord-Base', 'Hid-Base')
GROUP BY ALL
ORDER BY pool DESC, min(kill_coverage);
