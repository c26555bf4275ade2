-- Mechanisms right by the place of their variable in the prompt's list, in fifths of it (1 is first):
-- over valid programs, the share that gives every computed training and held-out cell from the cells as
-- they stand. In frontier pools the list is drawn anew for each task, elsewhere it goes by label.
WITH marks AS (
    SELECT structure AS pool, CAST(extra_json AS JSON) AS e
    FROM scores WHERE track = 'replayscm'
),
counts AS (
    SELECT
        pool, fifth.place + 1 AS fifth,
        CAST(e->>('$.asked_place_' || fifth.place) AS BIGINT) AS asked,
        CAST(e->>('$.right_place_' || fifth.place) AS BIGINT) AS right_ones
    FROM marks, (VALUES (0), (1), (2), (3), (4)) AS fifth(place)
)
SELECT
    pool, fifth,
    CAST(sum(asked) AS BIGINT)              AS mechanisms,
    sum(right_ones) / nullif(sum(asked), 0) AS right_rate
FROM counts
WHERE asked IS NOT NULL
GROUP BY pool, fifth
ORDER BY pool, fifth;
