-- Points and the three pools (fixed reading) along every axis people compare.
SELECT
    track, axis, level,
    count(*)                                 AS tasks,
    count(*) FILTER (status = 'missing')     AS missing,
    count(*) FILTER (status = 'invalid')     AS invalid,
    100 * avg(points)                        AS points,
    CASE WHEN count(floor) = count(*) THEN 100 * avg(floor) END AS floor,
    avg(1 - loss) FILTER (pool = 'pass')     AS pass_rate,
    median(loss) FILTER (pool IN ('nrel_point', 'nrel_interval')) AS med_nrel_err,
    median(loss) FILTER (pool = 'f1')        AS med_f1_loss,
    avg(coverage)                            AS coverage,
    median(interval_width)                   AS median_width
FROM axes
GROUP BY track, axis, level
ORDER BY track, axis, level;
