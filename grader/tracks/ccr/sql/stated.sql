-- Algorithm 1 on stated values (CCR 4.1, case 1), by variant; errors are medians over what was stated.
SELECT
    variant,
    count(DISTINCT instance_id)                                          AS contexts,
    count(*)                                                             AS compositions,
    avg(CAST(class = 'VC' AS DOUBLE))                                    AS vc,
    avg(CAST(class = 'VI' AS DOUBLE))                                    AS vi,
    avg(CAST(class = 'IC' AS DOUBLE))                                    AS ic,
    avg(CAST(class = 'II' AS DOUBLE))                                    AS ii,
    count(DISTINCT instance_id) FILTER (context_class = 'VC')            AS contexts_vc,
    count(DISTINCT instance_id) FILTER (context_class = 'VI')            AS contexts_vi,
    count(DISTINCT instance_id) FILTER (context_class = 'IC')            AS contexts_ic,
    count(DISTINCT instance_id) FILTER (context_class = 'II')            AS contexts_ii,
    median(eta)                                                          AS eta,
    median(epsilon)                                                      AS epsilon,
    median(gamma)                                                        AS gamma,
    median(epsilon_absolute)                                             AS epsilon_absolute,
    median(gamma_absolute)                                               AS gamma_absolute
FROM ccr_composed
GROUP BY variant
ORDER BY variant;
