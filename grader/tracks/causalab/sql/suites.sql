-- The figures of every suite and regime, and a last row over everything (label "all").
-- Every rate has the same denominator, all tasks of the suite: a missing or invalid answer counts as
-- an empty hypothesis and no prediction (rates 0, SHD the number of true edges). What only a session
-- can show (diagnostics) is averaged over those that show it, with its count beside it.
WITH marks AS (
    SELECT
        unnest([structure || ' ' || view, 'all']) AS label,
        status,
        points,
        unnest(from_json(extra_json, '{
            "nodes": "INTEGER", "setting": "INTEGER", "true_edges": "DOUBLE",
            "accurate": "DOUBLE", "exact": "DOUBLE",
            "edge_precision": "DOUBLE", "edge_recall": "DOUBLE",
            "edge_f1": "DOUBLE",
            "skeleton_f1": "DOUBLE", "shd": "DOUBLE", "freq_edge_f1": "DOUBLE",
            "coefficient_f1": "DOUBLE", "coefficient_f1_reference": "DOUBLE",
            "root_f1": "DOUBLE", "graph_exact": "DOUBLE", "base_error": "DOUBLE",
            "class_size": "DOUBLE",
            "budget_share": "DOUBLE", "used": "DOUBLE",
            "premature": "DOUBLE", "consistent": "DOUBLE", "consistency": "DOUBLE",
            "parse_failures": "DOUBLE", "transcript": "DOUBLE", "signed": "DOUBLE"
        }'))
    FROM scores
    WHERE track = 'causalab'
)
SELECT
    label,
    min(nodes)                                           AS nodes,
    min(setting)                                         AS setting,
    count(*)                                             AS tasks,
    count(*) FILTER (status = 'scored')                  AS answered,
    100 * avg(points)                                    AS points,
    avg(coalesce(accurate, 0))                           AS accuracy,
    CAST(sum(coalesce(accurate, 0)) AS INTEGER)          AS n_accurate,
    avg(coalesce(exact, 0))                              AS exact,
    CAST(sum(coalesce(exact, 0)) AS INTEGER)             AS n_exact,
    avg(coalesce(COLUMNS('^(edge_precision|edge_recall|edge_f1|skeleton_f1)$'), 0)) AS '\0',
    avg(coalesce(shd, true_edges))                       AS shd,
    avg(coalesce(COLUMNS('^(freq_edge_f1|coefficient_f1|coefficient_f1_reference)$'), 0)) AS '\0',
    avg(coalesce(COLUMNS('^(root_f1|graph_exact)$'), 0)) AS '\0',
    CAST(sum(coalesce(graph_exact, 0)) AS INTEGER)       AS n_graph_exact,
    avg(base_error)                                      AS base_error,
    count(base_error)                                    AS n_base,
    avg(class_size)                                      AS class_size,
    count(class_size)                                    AS n_class_size,
    avg(budget_share)                                    AS budget_share,
    avg(budget_share) FILTER (coalesce(accurate, 0) = 1) AS budget_share_accurate,
    avg(budget_share) FILTER (coalesce(accurate, 0) = 0) AS budget_share_inaccurate,
    avg(used)                                            AS used,
    avg(premature)                                       AS premature,
    avg(premature) FILTER (coalesce(accurate, 0) = 1)    AS premature_accurate,
    avg(premature) FILTER (coalesce(accurate, 0) = 0)    AS premature_inaccurate,
    CAST(sum(premature) AS INTEGER)                      AS n_premature,
    count(premature)                                     AS n_stopping,
    avg(consistent)                                      AS consistent,
    avg(consistent) FILTER (coalesce(accurate, 0) = 1)   AS consistent_accurate,
    avg(consistent) FILTER (coalesce(accurate, 0) = 0)   AS consistent_inaccurate,
    avg(consistency)                                     AS consistency,
    sum(parse_failures)                                  AS parse_failures,
    CAST(sum(transcript) AS INTEGER)                     AS n_transcripts,
    CAST(sum(signed) AS INTEGER)                         AS n_signed
FROM marks
GROUP BY label
ORDER BY label = 'all', label;
