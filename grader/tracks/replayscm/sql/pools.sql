-- One row per pool of replayscm (Tables 1-3, C.1-C.4, E.1, G.2-G.8). A missing or invalid answer
-- counts zero in every unconditioned rate and leaves the conditional ones. Ord-Match and Hid-Match
-- are the matched programs of the full pools. Every count that a rate is conditioned on stands
-- beside it, so that rates over 1 to 5 can be suppressed where they are shown. Open cells are no
-- programs: their pool stands in determination.sql alone.
WITH flat AS (
    SELECT
        structure, points,
        matched = 1       AS matched,
        determined = 1    AS determined,
        "unique" = 1      AS is_unique,
        has_shifted = 1   AS has_shifted,
        structure IN ('Hid-Roots', 'Frontier')  AS hides_roots,
        structure LIKE 'Alt-%'                  AS alters,
        coalesce(strict_json, 0)         AS strict_json,
        coalesce(extracted_json, 0)      AS extracted_json,
        coalesce("schema", 0)            AS schema_fits,
        coalesce(keys, 0)                AS keys_fit,
        coalesce(parse, 0)               AS parses,
        coalesce(legal, 0)               AS legal,
        coalesce(acyclic, 0)             AS acyclic,
        coalesce(train_exact, 0)         AS train_exact,
        coalesce(train_world_exact, 0)   AS train_world_exact,
        coalesce(train_cell, 0)          AS train_cell,
        heldout_world_exact              AS heldout_world_if_valid,
        heldout_exact                    AS heldout_if_valid,
        heldout_cell                     AS heldout_cell_if_valid,
        root_exact                       AS root_if_valid,
        coalesce(shifted_exact, 0)       AS shifted_exact,
        coalesce(shifted_world_exact, 0) AS shifted_world_exact,
        parent_recall, parent_f1, parent_shd, parent_variable_exact, parent_map_exact,
        local_match, local_full,
        coalesce(alternative, 0)         AS alternative,
        coalesce(wrong_determined, 0)    AS wrong_determined,
        coalesce(wrong_undetermined, 0)  AS wrong_undetermined,
        coalesce(experiment_valid, 0)    AS experiment_valid,
        coalesce(separates, 0)           AS separates,
        coalesce(witness, 0)             AS witness,
        coalesce(joint, 0)               AS joint,
        pair_disagreement, cell_difference, optimality,
        one_variable_edit, one_variable_same_parents, one_variable_new_parents
    FROM replayscm_marks
    WHERE structure <> 'Open-Cells'
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
    avg(strict_json)        AS strict_json,
    avg(extracted_json)     AS extracted_json,
    avg(schema_fits)        AS schema,
    avg(keys_fit)           AS keys,
    avg(parses)             AS parse,
    avg(legal)              AS legal,
    avg(acyclic)            AS acyclic,
    avg(acyclic)            AS valid,
    avg(train_exact)        AS train_exact,
    avg(train_world_exact)  AS train_world_exact,
    avg(train_cell)         AS train_cell,
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
    avg(parent_recall)                                    AS parent_recall,
    avg(parent_f1)                                        AS parent_f1,
    avg(parent_shd)                                       AS parent_shd,
    avg(parent_variable_exact)                            AS parent_variable_exact,
    avg(parent_map_exact)                                 AS parent_map_exact,
    avg(local_match)                                      AS local_match,
    avg(local_full)                                       AS local_full,
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
    avg(joint) FILTER (alters)                 AS joint,
    avg(experiment_valid) FILTER (alters)      AS experiment_valid,
    avg(separates) FILTER (alters)             AS separates,
    avg(witness) FILTER (alters)               AS witness,
    avg(pair_disagreement)                                AS pair_disagreement,
    avg(cell_difference)                                  AS cell_difference,
    avg(optimality)                                       AS optimality,
    avg(one_variable_edit)                                AS one_variable_edit,
    avg(one_variable_same_parents)                        AS one_variable_same_parents,
    avg(one_variable_new_parents)                         AS one_variable_new_parents
FROM pools
GROUP BY pool
ORDER BY pool;
