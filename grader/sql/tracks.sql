-- Headline and plain counts per track.
SELECT
    track,
    100 * avg(points)                                    AS points,
    count(*)                                             AS tasks,
    count(*) FILTER (status <> 'missing')                AS attempted,
    avg(1 - loss) FILTER (pool = 'pass' AND NOT should_abstain) AS content_pass_rate,
    avg(points) FILTER (should_abstain)                  AS abstention_pass_rate,
    avg(CAST(abstained AS DOUBLE)) FILTER (NOT should_abstain)
                                                         AS unwarranted_abstention_rate,
    count(*) FILTER (pool IN ('nrel_point', 'nrel_interval')) AS numeric_expected,
    count(*) FILTER (pool IN ('nrel_point', 'nrel_interval') AND status = 'scored'
                     AND NOT abstained)                  AS numeric_valid,
    avg(coverage)                                        AS coverage,
    median(width)                                        AS median_width
FROM scores
GROUP BY track
ORDER BY track;
