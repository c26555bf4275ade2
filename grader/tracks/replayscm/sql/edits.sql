-- Where successful Alternative-SCM answers edit the supplied program (Tables G.4 and G.5): one row a
-- pool and depth of the variable in the supplied program ("3+": three and deeper). `vars` are the
-- endogenous variables of programs whose answers are alternatives; an edit changes the parents too,
-- or the mechanism only.
WITH counts AS (
    SELECT
        structure AS pool,
        unnest([
            {'depth': '1', 'vars': vars_depth_1, 'changed': changed_depth_1, 'moved': moved_depth_1},
            {'depth': '2', 'vars': vars_depth_2, 'changed': changed_depth_2, 'moved': moved_depth_2},
            {'depth': '3+', 'vars': vars_depth_3, 'changed': changed_depth_3, 'moved': moved_depth_3}
        ], recursive := true)
    FROM replayscm_marks
    WHERE structure LIKE 'Alt-%' AND alternative = 1
),
sums AS (
    SELECT
        pool, depth,
        CAST(sum(vars) AS BIGINT) AS vars,
        CAST(sum(changed) AS BIGINT) AS changed,
        CAST(sum(moved) AS BIGINT) AS moved
    FROM counts GROUP BY pool, depth
)
SELECT
    pool, depth, vars,
    changed                             AS n_changed,
    changed / nullif(vars, 0)           AS changed_rate,
    moved / nullif(vars, 0)             AS parents_and_mechanism_rate,
    (changed - moved) / nullif(vars, 0) AS mechanism_only_rate,
    changed / nullif(sum(changed) OVER (PARTITION BY pool), 0) AS share_of_changes,
    moved / nullif(changed, 0)             AS parents_and_mechanism_share,
    (changed - moved) / nullif(changed, 0) AS mechanism_only_share
FROM sums
ORDER BY pool, depth;
