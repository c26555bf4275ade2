-- Every program that is asked for an alternative and for an induction too: what the alternative came
-- to, and whether the induction found one (Table G.2 tells them apart over systems).
SELECT
    a.structure                          AS pool,
    a.instance_id                        AS program,
    coalesce(i.alternative, 0) = 1       AS found,
    coalesce(a.joint, 0)                 AS joint,
    coalesce(a.alternative, 0)           AS alternative,
    coalesce(a.experiment_valid, 0)      AS experiment_valid,
    coalesce(a.separates, 0)             AS separates,
    coalesce(a.witness, 0)               AS witness
FROM replayscm_marks AS a JOIN replayscm_marks AS i USING (instance_id)
WHERE (i.structure, a.structure) IN (('Ord-Full', 'Alt-Ord'), ('Hid-Full', 'Alt-Hid'))
ORDER BY pool, program;
