-- Does a supplied program help (Table G.1)? Each Alternative-SCM pool beside induction over the same
-- programs under the same disclosure: how often the training worlds were fitted (TrainExact: the
-- paper's column equals that of its Table D.2), how often an alternative to the supplied program was
-- shown (joint), and the latter where the former failed. Programs that only one of the two pools
-- asks about are left out.
WITH marks AS (
    SELECT
        instance_id, structure,
        coalesce(train_exact, 0) AS train_exact, coalesce(joint, 0) AS joint
    FROM replayscm_marks
),
pairs AS (
    SELECT
        replace(i.structure, '-Full', '-Match') AS induction, a.structure AS alternative,
        i.train_exact, a.joint
    FROM marks AS i JOIN marks AS a USING (instance_id)
    WHERE (i.structure, a.structure) IN (('Ord-Full', 'Alt-Ord'), ('Hid-Full', 'Alt-Hid'))
)
SELECT
    induction, alternative,
    count(*)                               AS programs,
    avg(train_exact)                       AS train_exact,
    avg(joint)                             AS joint,
    count(*) FILTER (train_exact = 0)      AS n_train_failed,
    avg(joint) FILTER (train_exact = 0)    AS joint_if_train_failed
FROM pairs
GROUP BY induction, alternative
ORDER BY induction DESC;
