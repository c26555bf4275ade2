-- Mechanisms right by the place of their variable in the prompt's list, in fifths of it (1 is first):
-- over valid programs, the share that gives every computed training and held-out cell from the cells as
-- they stand. The list goes by label.
WITH counts AS (
    SELECT
        structure AS pool,
        unnest([
            {'fifth': 1, 'asked': asked_place_0, 'right_ones': right_place_0},
            {'fifth': 2, 'asked': asked_place_1, 'right_ones': right_place_1},
            {'fifth': 3, 'asked': asked_place_2, 'right_ones': right_place_2},
            {'fifth': 4, 'asked': asked_place_3, 'right_ones': right_place_3},
            {'fifth': 5, 'asked': asked_place_4, 'right_ones': right_place_4}
        ], recursive := true)
    FROM replayscm_marks
)
SELECT
    pool, fifth,
    CAST(sum(asked) AS BIGINT)              AS mechanisms,
    sum(right_ones) / nullif(sum(asked), 0) AS right_rate
FROM counts
WHERE asked IS NOT NULL
GROUP BY pool, fifth
ORDER BY pool, fifth;
