-- The headline and the figures of a submission, one row. Counts of nothing are 0, means of nothing NULL.
WITH contexts AS (
    SELECT
        avg(share)                                      AS simulated_share,
        100 * avg(share)                                AS points_simulation,
        count(*)                                        AS contexts,
        avg(CAST(complete AS DOUBLE))                   AS complete_share,
        avg(CAST(class = 'VC' AS DOUBLE))               AS contexts_vc,
        avg(CAST(class = 'VI' AS DOUBLE))               AS contexts_vi,
        avg(CAST(class = 'IC' AS DOUBLE))               AS contexts_ic,
        avg(CAST(class = 'II' AS DOUBLE))               AS contexts_ii
    FROM ccr_contexts
),
compositions AS (
    SELECT
        count(*)                                        AS compositions,
        avg(CAST(class = 'VC' AS DOUBLE))               AS compositions_vc,
        avg(CAST(class = 'VI' AS DOUBLE))               AS compositions_vi,
        avg(CAST(class = 'IC' AS DOUBLE))               AS compositions_ic,
        avg(CAST(class = 'II' AS DOUBLE))               AS compositions_ii,
        avg(CAST(near_valid AS DOUBLE))                 AS compositions_near_valid,
        avg(CAST(pn_vc AS DOUBLE))                      AS pn_vc,
        avg(CAST(ps_vc AS DOUBLE))                      AS ps_vc,
        avg(CAST(ate_vc AS DOUBLE))                     AS ate_vc
    FROM ccr_compositions
),
pairs AS (
    SELECT
        avg(CAST(valid AS DOUBLE))                      AS pairs_valid,
        avg(CAST(near_valid AS DOUBLE))                 AS pairs_near_valid,
        median(eta)                                     AS median_eta,
        avg(factual)                                    AS accuracy_factual,
        avg(do_true)                                    AS accuracy_do_true,
        avg(do_false)                                   AS accuracy_do_false,
        avg(violations)                                 AS monotonicity_violations,
        CAST(sum(answers) AS BIGINT)                    AS unit_answers,
        CAST(sum(invalid) AS BIGINT)                    AS unit_answers_invalid,
        CAST(sum(unreadable_factual) AS BIGINT)         AS factual_answers_invalid
    FROM ccr_pairs
),
stated AS (
    SELECT
        avg(points)                                     AS stated_share,
        100 * avg(points)                               AS points_stated,
        100 * avg(points) FILTER (family = 'direct')    AS points_direct,
        100 * avg(points) FILTER (family = 'inductive') AS points_inductive,
        100 * avg(points) FILTER (family = 'deductive') AS points_deductive
    FROM ccr_stated
)
SELECT
    100 * CASE WHEN simulated_share IS NULL THEN stated_share
               WHEN stated_share IS NULL THEN simulated_share
               ELSE (simulated_share + stated_share) / 2 END AS points,
    * EXCLUDE (simulated_share, stated_share)
FROM contexts, compositions, pairs, stated;
