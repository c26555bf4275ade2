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
    -- The published split of the pass rate (Table 4): a task is an abstention row as soon as either
    -- side abstains, so that its sizes follow the answers.
    avg(1 - paper_loss) FILTER (paper_pool = 'pass' AND NOT should_abstain AND NOT abstained)
                                                         AS paper_content_pass_rate,
    count(*) FILTER (paper_pool = 'pass' AND NOT should_abstain AND NOT abstained)
                                                         AS paper_content_tasks,
    avg(1 - paper_loss) FILTER (paper_pool = 'pass' AND (should_abstain OR abstained))
                                                         AS paper_abstention_pass_rate,
    count(*) FILTER (paper_pool = 'pass' AND (should_abstain OR abstained))
                                                         AS paper_abstention_tasks,
    count(*) FILTER (pool IN ('nrel_point', 'nrel_interval')) AS numeric_expected,
    count(*) FILTER (pool IN ('nrel_point', 'nrel_interval') AND status = 'scored'
                     AND NOT abstained)                  AS numeric_valid,
    avg(coverage)                                        AS coverage,
    median(interval_width)                               AS median_width
FROM scores
GROUP BY track
ORDER BY track;
