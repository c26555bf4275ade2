-- Interval tasks with a valid interval: how often it holds the truth, beside what it promises
-- (CausalDS 3.7, Table 6). A prediction's coverage is a share of its held-out rows, an effect's is
-- 0 or 1; both count once a task. Normalised widths are over 1 + sd or 1 + |truth|.
SELECT
    family || '.' || variant                         AS level,
    nominal_coverage AS nominal,
    count(*)                                         AS tasks,
    count(coverage)                                  AS valid,
    avg(coverage)                                    AS coverage,
    avg(interval_width)                              AS mean_width,
    median(interval_width)                           AS median_width,
    avg(normalised)                                  AS mean_normalised_width,
    median(normalised)                               AS median_normalised_width
FROM (
    SELECT *, CAST(CAST(extra_json AS JSON)->>'$.normalised_width' AS DOUBLE) AS normalised
    FROM scores
    WHERE track = 'causalds' AND pool = 'nrel_interval'
)
GROUP BY family, variant, nominal_coverage
ORDER BY level, nominal;
