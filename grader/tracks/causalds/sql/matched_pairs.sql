-- Paired differences of the capped diagnostic loss ($1 the cap, $2 the reference arm), one row per
-- bundle and other arm (CausalDS Table 24). Only identifiable targets enter, so that an abstention
-- is never right. both_valid: a committed answer in both arms; valid and reference_valid say so of
-- either (Figures 9 and 10). A mark says how an answer failed: abstained, context overflow, missing or
-- invalid; beside a valid answer, that the conversation overflowed all the same.
WITH lines AS (
    SELECT
        bundle, arm, instance_id, least(loss, $1) AS diagnostic,
        status = 'scored' AND NOT abstained AS valid,
        CASE WHEN ending = 'context limit' THEN 'ctx'
               WHEN status <> 'scored' THEN status
               WHEN abstained THEN 'abst' ELSE '' END AS mark
    FROM scores LEFT JOIN usage USING (task_id)
    WHERE bundle <> '' AND NOT should_abstain
)
SELECT
    harder.arm                                  AS arm,
    harder.bundle                               AS bundle,
    harder.instance_id                          AS instance_id,
    harder.diagnostic - reference.diagnostic    AS delta,
    harder.diagnostic                           AS loss,
    reference.diagnostic                        AS reference_loss,
    harder.valid                                AS valid,
    reference.valid                             AS reference_valid,
    harder.mark                                 AS mark,
    reference.mark                              AS reference_mark,
    harder.valid AND reference.valid            AS both_valid
FROM lines AS reference JOIN lines AS harder USING (bundle)
WHERE reference.arm = $2 AND harder.arm <> $2
ORDER BY harder.arm, harder.bundle;
