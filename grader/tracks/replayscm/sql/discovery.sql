-- Alternatives found by the answers, less evidence against more (Tables F.13 and F.14): programs that
-- replay every training world but have another function somewhere. First over all programs of both
-- pools, then over those solved (train-exact) on both sides, which shows that the difference is not
-- one of which programs were solved.
WITH marks AS (
    SELECT
        instance_id, structure,
        coalesce(train_exact, 0) AS solved, coalesce(alternative, 0) AS found
    FROM replayscm_marks
),
steps(less, more) AS (
    VALUES
        ('Ord-Full', 'Ord-Ext'), ('Ord-Full', 'Ord-CEx'), ('Ord-Full', 'Ord-Cert'),
        ('Hid-Full', 'Hid-Ext'), ('Hid-Full', 'Hid-CEx'), ('Hid-Full', 'Hid-Cert')
),
pairs AS (
    SELECT
        less.structure AS less, more.structure AS more,
        less.solved AS solved_less, more.solved AS solved_more,
        less.found AS found_less, more.found AS found_more
    FROM steps
    JOIN marks AS less ON less.structure = steps.less
    JOIN marks AS more ON more.structure = steps.more AND more.instance_id = less.instance_id
)
SELECT
    replace(less, '-Full', '-Match') AS less, more,
    count(*)                               AS programs,
    avg(found_less)                        AS found_less,
    avg(found_more)                        AS found_more,
    avg(found_more) - avg(found_less)      AS delta,
    count(*) FILTER (solved_less = 1 AND solved_more = 1)        AS n_solved_both,
    avg(found_less) FILTER (solved_less = 1 AND solved_more = 1) AS found_less_if_solved,
    avg(found_more) FILTER (solved_less = 1 AND solved_more = 1) AS found_more_if_solved,
    avg(found_more - found_less) FILTER (solved_less = 1 AND solved_more = 1) AS delta_if_solved
FROM pairs
GROUP BY less, more
ORDER BY less DESC, more;
