-- The headline of the ccr track and its figures, one row.
WITH headline AS (
    SELECT (SELECT avg(share) FROM ccr_contexts) AS simulated,
           (SELECT avg(points) FROM ccr_stated)  AS stated
)
SELECT
    100 * CASE WHEN simulated IS NULL THEN stated
               WHEN stated IS NULL THEN simulated
               ELSE (simulated + stated) / 2 END                      AS points,
    100 * simulated                                                   AS points_simulation,
    100 * stated                                                      AS points_stated,
    100 * (SELECT avg(points) FROM ccr_stated WHERE family = 'direct')    AS points_direct,
    100 * (SELECT avg(points) FROM ccr_stated WHERE family = 'deductive') AS points_deductive,
    (SELECT count(*) FROM ccr_contexts)                               AS contexts,
    (SELECT avg(CAST(complete AS DOUBLE)) FROM ccr_contexts)          AS complete_share,
    (SELECT avg(CAST(class = 'VC' AS DOUBLE)) FROM ccr_contexts)      AS contexts_vc,
    (SELECT avg(CAST(class = 'VI' AS DOUBLE)) FROM ccr_contexts)      AS contexts_vi,
    (SELECT avg(CAST(class = 'IC' AS DOUBLE)) FROM ccr_contexts)      AS contexts_ic,
    (SELECT avg(CAST(class = 'II' AS DOUBLE)) FROM ccr_contexts)      AS contexts_ii,
    (SELECT count(*) FROM ccr_compositions)                           AS compositions,
    (SELECT avg(CAST(class = 'VC' AS DOUBLE)) FROM ccr_compositions)  AS compositions_vc,
    (SELECT avg(CAST(class = 'VI' AS DOUBLE)) FROM ccr_compositions)  AS compositions_vi,
    (SELECT avg(CAST(class = 'IC' AS DOUBLE)) FROM ccr_compositions)  AS compositions_ic,
    (SELECT avg(CAST(class = 'II' AS DOUBLE)) FROM ccr_compositions)  AS compositions_ii,
    (SELECT avg(CAST(near_valid AS DOUBLE)) FROM ccr_compositions)    AS compositions_near_valid,
    (SELECT avg(CAST(pn_valid AND pn_consistent AS DOUBLE)) FROM ccr_compositions)   AS pn_vc,
    (SELECT avg(CAST(ps_valid AND ps_consistent AS DOUBLE)) FROM ccr_compositions)   AS ps_vc,
    (SELECT avg(CAST(ate_valid AND ate_consistent AS DOUBLE)) FROM ccr_compositions) AS ate_vc,
    (SELECT avg(CAST(valid AS DOUBLE)) FROM ccr_pairs)                AS pairs_valid,
    (SELECT avg(CAST(near AS DOUBLE)) FROM ccr_pairs)                 AS pairs_near_valid,
    (SELECT median(eta) FROM ccr_pairs)                               AS median_eta,
    (SELECT avg(factual) FROM ccr_pairs)                              AS accuracy_factual,
    (SELECT avg(do_true) FROM ccr_pairs)                              AS accuracy_do_true,
    (SELECT avg(do_false) FROM ccr_pairs)                             AS accuracy_do_false,
    (SELECT avg(violations) FROM ccr_pairs)                           AS monotonicity_violations,
    (SELECT CAST(sum(answers) AS BIGINT) FROM ccr_pairs)              AS unit_answers,
    (SELECT CAST(sum(invalid) AS BIGINT) FROM ccr_pairs)              AS unit_answers_invalid
FROM headline;
