-- Points and the three pools (fixed reading) along every axis people compare.
WITH axes AS (
    SELECT scores.*, unnest([
        {'axis': 'rung',       'level': CAST(rung AS VARCHAR)},
        {'axis': 'family',     'level': family},
        {'axis': 'variant',    'level': family || '.' || variant},
        {'axis': 'view',       'level': view},
        {'axis': 'structure',  'level': structure},
        {'axis': 'input_mode', 'level': input_mode}
    ]) AS slice
    FROM scores
)
SELECT
    track,
    slice.axis  AS axis,
    slice.level AS level,
    count(*)                                 AS tasks,
    count(*) FILTER (status = 'missing')     AS missing,
    count(*) FILTER (status = 'invalid')     AS invalid,
    100 * avg(points)                        AS points,
    avg(1 - loss) FILTER (pool = 'pass')     AS pass_rate,
    median(loss) FILTER (pool IN ('nrel_point', 'nrel_interval')) AS med_nrel_err,
    median(loss) FILTER (pool = 'f1')        AS med_f1_loss,
    avg(coverage)                            AS coverage
FROM axes
GROUP BY track, axis, level
ORDER BY track, axis, level;
