-- How many attempts passed each task of the pass/fail pool, which follows the truth alone, and which
-- was the first (CausalDS A.11), for the exam and for its slices. A due abstention is also counted
-- by family (Table 22).
WITH tasks AS (
    SELECT
        task_id, count(*) AS attempts,
        count(*) FILTER (passed)     AS passed,
        min(attempt) FILTER (passed) AS first_passed
    FROM attempts
    WHERE pool = 'pass'
    GROUP BY task_id
),
sliced AS (
    SELECT 'exam' AS axis, '' AS level, task_id FROM scores
    UNION ALL
    SELECT axis, level, task_id FROM axes WHERE axis IN ('rung', 'view', 'input_mode', 'family')
    UNION ALL
    SELECT 'abstention', family, task_id FROM scores WHERE should_abstain
)
SELECT axis, level, task_id, attempts, passed, first_passed
FROM sliced JOIN tasks USING (task_id)
ORDER BY axis, level, task_id;
