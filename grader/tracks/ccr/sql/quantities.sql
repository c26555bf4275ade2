-- External error of every quantity by its place in the cut tree (CCR Figures 7, G.12-G.16): X1 is the
-- root, the last one the leaf; X1X3 a pair, X1X2·X2X3 a composition. share is that of estimates within
-- the threshold (of resampled ones where answers are repeated), valid that of contexts where enough
-- are; both count what was not estimated as wrong. Errors are over what was: relative, absolute (G.2), and
-- of compositions absolute against the own estimate of the whole (G.4).
WITH lines AS (
    SELECT quantity, kind, eta AS error, eta_absolute AS absolute, NULL AS internal, valid_share, valid
    FROM ccr_pairs
    UNION ALL
    SELECT quantity, 'composition', epsilon, epsilon_absolute, gamma_absolute, valid_share, valid
    FROM ccr_compositions
)
SELECT
    quantity, kind,
    count(*)                       AS estimates,
    avg(valid_share)               AS share,
    avg(CAST(valid AS DOUBLE))     AS valid,
    avg(error)                     AS mean,
    stddev_pop(error)              AS sd,
    quantile_cont(error, 0.25)     AS q25,
    median(error)                  AS median,
    quantile_cont(error, 0.75)     AS q75,
    avg(absolute)                  AS mean_absolute,
    avg(internal)                  AS mean_absolute_internal
FROM lines
GROUP BY quantity, kind
ORDER BY kind = 'composition', kind, quantity;
