-- Does a supplied program help (Table G.1)? Each Alternative-SCM pool beside induction over the same
-- programs under the same disclosure: how often the hidden program was induced (HeldoutExact), how
-- often an alternative to the supplied one was shown (joint), and the latter where the former failed.
-- Programs that only one of the two pools asks about are left out.
WITH marks AS (
    SELECT
        instance_id, structure,
        coalesce(CAST(CAST(extra_json AS JSON)->>'$.heldout_exact' AS DOUBLE), 0) AS induced,
        coalesce(CAST(CAST(extra_json AS JSON)->>'$.joint' AS DOUBLE), 0)         AS joint
    FROM scores WHERE track = 'replayscm'
),
pairs AS (
    SELECT
        replace(i.structure, '-Full', '-Match') AS induction, a.structure AS alternative,
        i.induced, a.joint
    FROM marks AS i JOIN marks AS a USING (instance_id)
    WHERE (i.structure, a.structure) IN (('Ord-Full', 'Alt-Ord'), ('Hid-Full', 'Alt-Hid'))
)
SELECT
    induction, alternative,
    count(*)                          AS programs,
    avg(induced)                      AS induced,
    avg(joint)                        AS joint,
    count(*) FILTER (induced = 0)     AS n_not_induced,
    avg(joint) FILTER (induced = 0)   AS joint_if_not_induced
FROM pairs
GROUP BY induction, alternative
ORDER BY induction DESC;
