-- Error against the complexity of the causal path (CCR Fig. 9).
WITH axes AS (
    SELECT *, unnest([
        {'axis': 'mediators',     'level': mediators},
        {'axis': 'shortest_path', 'level': shortest_path}
    ]) AS slice
    FROM ccr_pairs
)
SELECT
    slice.axis                    AS axis,
    slice.level                   AS level,
    count(*)                      AS pairs,
    avg(eta)                      AS mean_rae,
    stddev_pop(eta)               AS sd_rae,
    avg(CAST(valid AS DOUBLE))    AS valid,
    avg((do_true + do_false) / 2) AS accuracy
FROM axes
GROUP BY axis, level
ORDER BY axis, level;
