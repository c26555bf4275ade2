-- One row per pool of replayscm (Tables 1-3, C.1-C.4, E.1, G.2-G.8, Appendix I). A missing or invalid answer
-- counts zero in every unconditioned rate and leaves the conditional ones. Ord-Match and Hid-Match
-- are the matched programs of the full pools. Every count that a rate is conditioned on stands
-- beside it, so that rates over 1 to 5 can be suppressed where they are shown.
WITH flat AS (
    SELECT
        structure, points,
        matched = 1       AS matched,
        determined = 1    AS determined,
        "unique" = 1      AS is_unique,
        has_shifted = 1   AS has_shifted,
        structure = 'Hid-Roots'           AS hides_roots,
        structure LIKE 'Alt-%'            AS alters,
        coalesce(COLUMNS('^(strict_json|extracted_json|schema|keys|parse|legal|acyclic)$'), 0) AS '\0',
        coalesce(COLUMNS('^(train_|shifted_|wrong_).*'), 0) AS '\0',
        coalesce(COLUMNS('^(alternative|experiment_valid|separates|witness|joint)$'), 0) AS '\0',
        heldout_world_exact              AS heldout_world_if_valid,
        heldout_exact                    AS heldout_if_valid,
        heldout_cell                     AS heldout_cell_if_valid,
        root_exact                       AS root_if_valid,
        pair_disagreement, cell_difference, optimality, ast_size, ast_gold, separating_support,
        COLUMNS('^(parent|local|one_variable)_.*')
    FROM replayscm_marks
),
pools AS (
    SELECT
        *,
        unnest(CASE WHEN matched AND structure LIKE '%-Full'
                    THEN [structure, replace(structure, '-Full', '-Match')]
                    ELSE [structure] END) AS pool
    FROM flat
)
SELECT
    pool,
    count(*)                AS tasks,
    100 * avg(points)       AS points,
    avg(COLUMNS('^(strict_json|extracted_json|schema|keys|parse|legal|acyclic)$')) AS '\0',
    avg(acyclic)            AS valid,
    avg(COLUMNS('^train_.*')) AS '\0',
    avg(coalesce(heldout_world_if_valid, 0)) FILTER (NOT alters) AS heldout_world_exact,
    avg(coalesce(heldout_if_valid, 0)) FILTER (NOT alters)       AS heldout_exact,
    avg(coalesce(heldout_cell_if_valid, 0)) FILTER (NOT alters)  AS heldout_cell,
    count(*) FILTER (has_shifted)                                           AS n_shifted,
    avg(shifted_exact) FILTER (has_shifted)                                 AS shifted_exact,
    avg(shifted_world_exact) FILTER (has_shifted)                           AS shifted_world_exact,
    avg(coalesce(heldout_world_if_valid, 0)) FILTER (NOT alters)
        / nullif(avg(train_world_exact), 0)                                 AS retention,
    CAST(sum(train_exact) AS BIGINT)                                        AS n_train_exact,
    avg(heldout_world_if_valid) FILTER (train_exact = 1)  AS heldout_world_given_train,
    avg(heldout_if_valid) FILTER (train_exact = 1)        AS heldout_given_train,
    count(parent_f1)                                      AS n_structure,
    avg(COLUMNS('^(parent|local)_.*')) AS '\0',
    avg(COLUMNS('^ast_.*')) AS '\0',
    count(separating_support)                             AS n_separated,
    avg(separating_support)                               AS separating_support,
    avg(CAST(separating_support = 0 AS INTEGER))          AS separating_unseen,
    count(*) FILTER (parent_map_exact = 1)                AS n_map_exact,
    avg(train_exact) FILTER (parent_map_exact = 1)        AS train_given_map,
    avg(heldout_if_valid) FILTER (parent_map_exact = 1)   AS heldout_given_map,
    CAST(sum(alternative) AS BIGINT)                      AS alternatives,
    avg(alternative)                                      AS alternative_rate,
    count(*) FILTER (determined)                          AS n_determined,
    count(*) FILTER (is_unique)                           AS n_unique,
    avg(train_exact) FILTER (determined)                  AS train_exact_determined,
    avg(coalesce(heldout_if_valid, 0)) FILTER (determined)     AS heldout_exact_determined,
    avg(train_exact) FILTER (NOT determined)                   AS train_exact_undetermined,
    avg(coalesce(heldout_if_valid, 0)) FILTER (NOT determined) AS heldout_exact_undetermined,
    CAST(sum(wrong_determined) AS BIGINT)                 AS reasoning_error_cells,
    CAST(sum(wrong_undetermined) AS BIGINT)               AS missing_evidence_cells,
    avg(coalesce(root_if_valid, 0)) FILTER (hides_roots)  AS root_exact,
    count(*) FILTER (hides_roots AND root_if_valid = 1)   AS n_root_exact,
    avg(train_exact) FILTER (hides_roots AND root_if_valid = 1)            AS train_given_root,
    avg(heldout_world_if_valid) FILTER (hides_roots AND root_if_valid = 1) AS heldout_world_given_root,
    avg(heldout_if_valid) FILTER (hides_roots AND root_if_valid = 1)       AS heldout_given_root,
    count(*) FILTER (hides_roots AND coalesce(root_if_valid, 0) = 0)       AS n_root_wrong,
    avg(train_exact) FILTER (hides_roots AND coalesce(root_if_valid, 0) = 0) AS train_given_root_wrong,
    avg(joint) FILTER (alters)                            AS joint,
    avg(COLUMNS('^(experiment_valid|separates|witness)$')) FILTER (alters) AS '\0',
    avg(COLUMNS('^(pair_disagreement|cell_difference|optimality|one_variable_.*)$')) AS '\0'
FROM pools
GROUP BY pool
ORDER BY pool;
