-- One row per pool of replayscm (Tables 1-3, C.1-C.4, E.1, G.2-G.8). A missing or invalid answer
-- counts zero in every unconditioned rate and leaves the conditional ones. Ord-Match and Hid-Match
-- are the matched programs of the full pools. Every count that a rate is conditioned on stands
-- beside it, so that rates over 1 to 5 can be suppressed where they are shown. Open cells are no
-- programs: their pool stands in determination.sql alone.
WITH marks AS (
    SELECT
        instance_id, structure, points, CAST(extra_json AS JSON) AS e
    FROM scores WHERE track = 'replayscm' AND structure <> 'Open-Cells'
),
flat AS (
    SELECT
        instance_id, structure, points,
        CAST(e->>'$.matched' AS INTEGER) = 1     AS matched,
        CAST(e->>'$.determined' AS INTEGER) = 1  AS determined,
        CAST(e->>'$.unique' AS INTEGER) = 1      AS is_unique,
        coalesce(CAST(e->>'$.strict_json' AS DOUBLE), 0)    AS strict_json,
        coalesce(CAST(e->>'$.extracted_json' AS DOUBLE), 0) AS extracted_json,
        coalesce(CAST(e->>'$.schema' AS DOUBLE), 0)         AS schema_fits,
        coalesce(CAST(e->>'$.keys' AS DOUBLE), 0)           AS keys_fit,
        coalesce(CAST(e->>'$.parse' AS DOUBLE), 0)          AS parses,
        coalesce(CAST(e->>'$.legal' AS DOUBLE), 0)          AS legal,
        coalesce(CAST(e->>'$.acyclic' AS DOUBLE), 0)        AS acyclic,
        coalesce(CAST(e->>'$.train_exact' AS DOUBLE), 0)         AS train_exact,
        coalesce(CAST(e->>'$.train_world_exact' AS DOUBLE), 0)   AS train_world_exact,
        coalesce(CAST(e->>'$.train_cell' AS DOUBLE), 0)          AS train_cell,
        CAST(e->>'$.heldout_world_exact' AS DOUBLE)              AS heldout_world_if_valid,
        CAST(e->>'$.heldout_exact' AS DOUBLE)                    AS heldout_if_valid,
        CAST(e->>'$.heldout_cell' AS DOUBLE)                     AS heldout_cell_if_valid,
        CAST(e->>'$.root_exact' AS DOUBLE)                       AS root_if_valid,
        CAST(e->>'$.has_shifted' AS INTEGER) = 1                 AS has_shifted,
        coalesce(CAST(e->>'$.shifted_exact' AS DOUBLE), 0)       AS shifted_exact,
        coalesce(CAST(e->>'$.shifted_world_exact' AS DOUBLE), 0) AS shifted_world_exact,
        structure IN ('Hid-Roots', 'Frontier')                   AS hides_roots,
        CAST(e->>'$.parent_recall' AS DOUBLE)         AS parent_recall,
        CAST(e->>'$.parent_f1' AS DOUBLE)             AS parent_f1,
        CAST(e->>'$.parent_shd' AS DOUBLE)            AS parent_shd,
        CAST(e->>'$.parent_variable_exact' AS DOUBLE) AS parent_variable_exact,
        CAST(e->>'$.parent_map_exact' AS DOUBLE)      AS parent_map_exact,
        CAST(e->>'$.local_match' AS DOUBLE)           AS local_match,
        CAST(e->>'$.local_full' AS DOUBLE)            AS local_full,
        coalesce(CAST(e->>'$.alternative' AS DOUBLE), 0)         AS alternative,
        coalesce(CAST(e->>'$.wrong_determined' AS DOUBLE), 0)    AS wrong_determined,
        coalesce(CAST(e->>'$.wrong_undetermined' AS DOUBLE), 0)  AS wrong_undetermined,
        coalesce(CAST(e->>'$.experiment_valid' AS DOUBLE), 0)    AS experiment_valid,
        coalesce(CAST(e->>'$.separates' AS DOUBLE), 0)           AS separates,
        coalesce(CAST(e->>'$.witness' AS DOUBLE), 0)             AS witness,
        coalesce(CAST(e->>'$.joint' AS DOUBLE), 0)               AS joint,
        CAST(e->>'$.pair_disagreement' AS DOUBLE)         AS pair_disagreement,
        CAST(e->>'$.cell_difference' AS DOUBLE)           AS cell_difference,
        CAST(e->>'$.optimality' AS DOUBLE)                AS optimality,
        CAST(e->>'$.one_variable_edit' AS DOUBLE)         AS one_variable_edit,
        CAST(e->>'$.one_variable_same_parents' AS DOUBLE) AS one_variable_same_parents,
        CAST(e->>'$.one_variable_new_parents' AS DOUBLE)  AS one_variable_new_parents
    FROM marks
),
pools AS (
    SELECT structure AS pool, * FROM flat
    UNION ALL
    SELECT replace(structure, '-Full', '-Match') AS pool, * FROM flat
    WHERE matched AND structure LIKE '%-Full'
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
    avg(coalesce(heldout_world_if_valid, 0)) FILTER (pool NOT LIKE 'Alt-%') AS heldout_world_exact,
    avg(coalesce(heldout_if_valid, 0)) FILTER (pool NOT LIKE 'Alt-%')       AS heldout_exact,
    avg(coalesce(heldout_cell_if_valid, 0)) FILTER (pool NOT LIKE 'Alt-%')  AS heldout_cell,
    count(*) FILTER (has_shifted)                                           AS n_shifted,
    avg(shifted_exact) FILTER (has_shifted)                                 AS shifted_exact,
    avg(shifted_world_exact) FILTER (has_shifted)                           AS shifted_world_exact,
    avg(coalesce(heldout_world_if_valid, 0)) FILTER (pool NOT LIKE 'Alt-%')
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
    avg(joint) FILTER (pool LIKE 'Alt-%')                 AS joint,
    avg(experiment_valid) FILTER (pool LIKE 'Alt-%')      AS experiment_valid,
    avg(separates) FILTER (pool LIKE 'Alt-%')             AS separates,
    avg(witness) FILTER (pool LIKE 'Alt-%')               AS witness,
    avg(pair_disagreement)                                AS pair_disagreement,
    avg(cell_difference)                                  AS cell_difference,
    avg(optimality)                                       AS optimality,
    avg(one_variable_edit)                                AS one_variable_edit,
    avg(one_variable_same_parents)                        AS one_variable_same_parents,
    avg(one_variable_new_parents)                         AS one_variable_new_parents
FROM pools
GROUP BY pool
ORDER BY pool;
