-- How far the capped diagnostic loss ($1 the cap) moves inside a bundle (CausalDS Table 23). failed
-- counts the members without a committed answer.
SELECT
    bundle,
    min(structure)                              AS structure,
    min(rung)                                   AS rung,
    min(family || '.' || variant)               AS variant,
    count(*)                                    AS members,
    count(*) FILTER (status <> 'scored' OR abstained) AS failed,
    min(least(loss, $1))                        AS lowest,
    max(least(loss, $1))                        AS highest,
    max(least(loss, $1)) - min(least(loss, $1)) AS "range",
    stddev_samp(least(loss, $1))                AS sd
FROM scores
WHERE bundle <> ''
GROUP BY bundle
HAVING count(DISTINCT view) = 1   -- tellings of one view; views are compared by matched_pairs.sql
ORDER BY "range" DESC, bundle;
