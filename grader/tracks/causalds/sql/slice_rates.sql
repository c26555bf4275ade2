-- Content and abstention pass rates along every axis with their counts (Tables 12, 13, 15-17), in both
-- readings. paper: a task is an abstention row as soon as either side abstains; fixed: where
-- abstaining is due. Content are exact-match tasks that are no abstention rows.
WITH marks AS (
    SELECT
        task_id, 'fixed' AS reading,
        pool = 'pass' AND NOT should_abstain AS content, should_abstain AS abstention,
        1 - loss AS passed
    FROM scores WHERE track = 'causalds'
    UNION ALL
    SELECT
        task_id, 'paper',
        paper_pool = 'pass' AND NOT should_abstain AND NOT abstained,
        paper_pool = 'pass' AND (should_abstain OR abstained),
        1 - paper_loss
    FROM scores WHERE track = 'causalds' AND paper_pool IS NOT NULL
)
SELECT
    axis, level, reading,
    avg(passed) FILTER (content)    AS content_pass_rate,
    count(*) FILTER (content)       AS content_tasks,
    avg(passed) FILTER (abstention) AS abstention_pass_rate,
    count(*) FILTER (abstention)    AS abstention_tasks
FROM marks JOIN axes USING (task_id)
GROUP BY axis, level, reading
ORDER BY axis, level, reading;
