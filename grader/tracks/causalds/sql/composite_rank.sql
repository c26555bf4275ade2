-- Composite Rank (CausalDS 3.7): in each column the average rank of a system (ties share the mean of
-- their places), scaled to 0 (best) to 1; then the mean over the columns. PassRate is better when
-- higher, the other two when lower. A system without a number in a column that others have comes
-- last in it; a column without any number is left out.
WITH cells AS (
    SELECT system, 'pass_rate' AS col, -pass_rate AS badness FROM systems
    UNION ALL SELECT system, 's_nr', s_nr FROM systems
    UNION ALL SELECT system, 'f1_loss', f1_loss FROM systems
),
used AS (
    SELECT system, col, coalesce(badness, 'infinity'::DOUBLE) AS badness
    FROM cells
    WHERE col IN (SELECT col FROM cells WHERE badness IS NOT NULL)
),
ranked AS (
    SELECT
        system,
        rank() OVER (PARTITION BY col ORDER BY badness)
            + (count(*) OVER (PARTITION BY col, badness) - 1) / 2.0 AS place,
        count(*) OVER (PARTITION BY col) AS systems
    FROM used
)
SELECT system, avg((place - 1) / nullif(systems - 1, 0)) AS composite_rank
FROM ranked
GROUP BY system
ORDER BY system;
