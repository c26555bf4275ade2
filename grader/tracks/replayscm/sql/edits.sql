-- Where successful Alternative-SCM answers edit the supplied program (Tables G.4 and G.5): one row a
-- pool and depth of the variable in the supplied program ("3+": three and deeper). `vars` are the
-- endogenous variables of programs whose answers are alternatives; an edit changes the parents too,
-- or the mechanism only.
WITH marks AS (
    SELECT structure AS pool, CAST(extra_json AS JSON) AS e
    FROM scores WHERE track = 'replayscm' AND structure LIKE 'Alt-%'
),
counts AS (
    SELECT
        pool, level.depth,
        CAST(e->>('$.vars_depth_' || level.key) AS BIGINT)    AS vars,
        CAST(e->>('$.changed_depth_' || level.key) AS BIGINT) AS changed,
        CAST(e->>('$.moved_depth_' || level.key) AS BIGINT)   AS moved
    FROM marks, (VALUES ('1', '1'), ('2', '2'), ('3', '3+')) AS level(key, depth)
    WHERE CAST(e->>'$.alternative' AS INTEGER) = 1
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
