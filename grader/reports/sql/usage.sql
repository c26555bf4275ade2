-- What each track cost (CausalDS Table 18). Totals and means are over the tasks that have the
-- figure; unmetered counts answered tasks without tokens, which make the total too small.
WITH metered AS (
    SELECT
        scores.track, scores.status, usage.task_id IS NOT NULL AS reported,
        CASE WHEN input_tokens IS NOT NULL OR output_tokens IS NOT NULL
             THEN coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END AS tokens,
        tool_calls, seconds, cost_usd
    FROM scores LEFT JOIN usage USING (task_id)
)
SELECT
    track,
    count(*) FILTER (reported)                             AS tasks,
    count(*) FILTER (status <> 'missing' AND tokens IS NULL) AS unmetered,
    sum(tokens)                                            AS total_tokens,
    avg(tokens)                                            AS tokens_per_task,
    avg(tool_calls)                                        AS calls_per_task,
    avg(seconds)                                           AS seconds_per_task,
    sum(cost_usd)                                          AS total_cost_usd,
    avg(cost_usd)                                          AS cost_per_task_usd
FROM metered
GROUP BY track
ORDER BY track;
