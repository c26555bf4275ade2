-- Records whose evidence determines the held-out cells and records whose evidence does not, apart. Rates
-- are over all tasks; a missing or invalid answer counts zero.
WITH flat AS (
    SELECT
        family, points, heldout_exact,
        determined = 1             AS determined,
        has_shifted = 1            AS has_shifted,
        coalesce(train_exact, 0)   AS train_exact,
        coalesce(shifted_exact, 0) AS shifted_exact
    FROM replayscm_marks
)
SELECT
    determined,
    count(*)                                      AS tasks,
    count(*) / sum(count(*)) OVER ()              AS share,
    100 * avg(points)                             AS points,
    avg(train_exact)                              AS train_exact,
    avg(coalesce(heldout_exact, 0))
        FILTER (family <> 'alternative')          AS heldout_exact,
    avg(shifted_exact) FILTER (has_shifted)       AS shifted_exact,
    count(*) FILTER (has_shifted)                 AS n_shifted
FROM flat
GROUP BY determined
ORDER BY determined DESC;
