-- Behaviour under each arm of the matched bundles (CausalDS Table 25); $1 caps the diagnostic loss.
-- In the fixed reading a missing, invalid or wrongly abstaining answer has the full loss of its
-- pool, so that the cap makes it 1. Exits are null where nothing says how tasks ended. Among views only identifiable targets enter; among tellings all.
WITH lines AS (
    SELECT *, min(view) OVER (PARTITION BY bundle) = max(view) OVER (PARTITION BY bundle) AS one_view
    FROM scores
    WHERE bundle <> ''
)
SELECT
    arm,
    count(*)                                                    AS tasks,
    count(*) FILTER (status = 'scored' AND NOT abstained)       AS committed,
    count(*) FILTER (abstained AND NOT should_abstain)          AS false_abstentions,
    count(*) FILTER (status = 'missing')                        AS missing,
    count(*) FILTER (status = 'invalid')                        AS invalid,
    avg(least(loss, $1))                                        AS mean_loss,
    median(least(loss, $1)) FILTER (status = 'scored' AND NOT abstained AND NOT should_abstain)
                                                                AS median_survivor_loss,
    CASE WHEN count(ending) > 0 THEN count(*) FILTER (ending = 'context limit') END
                                                                AS context_exits,
    CASE WHEN count(ending) > 0
         THEN count(*) FILTER (ending IN ('step limit', 'token limit', 'time limit', 'cost limit')) END
                                                                AS limit_exits,
    avg(tool_calls)                                             AS calls_per_task
FROM lines LEFT JOIN usage USING (task_id)
WHERE one_view OR NOT should_abstain
GROUP BY arm
ORDER BY arm;
