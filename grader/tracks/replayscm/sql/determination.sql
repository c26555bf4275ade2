-- Records whose evidence determines the held-out cells and records whose evidence does not, apart, for
-- the paper's pools (with Certified) and for each frontier pool. Rates are over all tasks; a missing or
-- invalid answer counts zero. Where open cells are asked, points are their F1.
WITH flat AS (
    SELECT
        CASE WHEN family = 'frontier' THEN structure ELSE 'paper' END AS pools,
        family, points, heldout_exact,
        determined = 1             AS determined,
        level = 5                  AS asks_cells,
        has_shifted = 1            AS has_shifted,
        coalesce(train_exact, 0)   AS train_exact,
        coalesce(shifted_exact, 0) AS shifted_exact,
        coalesce(precision, 0)     AS cell_precision,
        coalesce(recall, 0)        AS cell_recall
    FROM replayscm_marks
)
SELECT
    pools, determined,
    count(*)                                                    AS tasks,
    count(*) / sum(count(*)) OVER (PARTITION BY pools)          AS share,
    100 * avg(points)                                           AS points,
    avg(train_exact) FILTER (NOT asks_cells)                    AS train_exact,
    avg(coalesce(heldout_exact, 0))
        FILTER (family <> 'alternative' AND NOT asks_cells)     AS heldout_exact,
    avg(shifted_exact) FILTER (has_shifted)                     AS shifted_exact,
    count(*) FILTER (has_shifted)                               AS n_shifted,
    avg(cell_precision) FILTER (asks_cells)                     AS cell_precision,
    avg(cell_recall) FILTER (asks_cells)                        AS cell_recall
FROM flat
GROUP BY pools, determined
ORDER BY pools DESC, determined DESC;
