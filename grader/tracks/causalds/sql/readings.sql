-- CausalDS Eq. 2-4 for each reading, of the whole exam (axis 'exam') and of every slice; $1 is the cap c
-- on an interval's loss. mean_nrel_err is the mean over the tasks of med_nrel_err: it shows the tail that
-- a median hides (Table 6). The paper takes the median of the points and of the F1 losses. The fixed
-- reading takes means of capped losses: a median does not see what is abandoned beyond it. In a mean each
-- abstention costs the cap less what it replaces.
WITH pools AS (
    SELECT
        axis, level, reading,
        count(*) FILTER (pool = 'pass')          AS n_pass,
        count(*) FILTER (pool = 'nrel_point')    AS n_point,
        count(*) FILTER (pool = 'nrel_interval') AS n_interval,
        count(*) FILTER (pool = 'f1')            AS n_f1,
        1 - avg(loss) FILTER (pool = 'pass')     AS pass_rate,
        median(loss) FILTER (pool IN ('nrel_point', 'nrel_interval')) AS med_nrel_err,
        avg(loss) FILTER (pool IN ('nrel_point', 'nrel_interval'))    AS mean_nrel_err,
        CASE WHEN reading = 'paper' THEN median(loss) FILTER (pool = 'nrel_point')
             ELSE avg(least(loss, $1)) FILTER (pool = 'nrel_point') END AS m_point,
        avg(least(loss, $1)) FILTER (pool = 'nrel_interval')          AS m_interval,
        median(loss) FILTER (pool = 'f1')        AS med_f1_loss,
        CASE WHEN reading = 'paper' THEN median(loss) FILTER (pool = 'f1')
             ELSE avg(loss) FILTER (pool = 'f1') END AS f1_loss
    FROM losses JOIN (
        SELECT task_id, axis, level FROM axes
        UNION ALL SELECT task_id, 'exam', '' FROM scores
    ) USING (task_id)
    WHERE track = 'causalds'
    GROUP BY axis, level, reading
),
numeric AS (
    SELECT
        *,
        n_point + n_interval AS n_nrel,
        (n_point * coalesce(m_point, 0) + n_interval * coalesce(m_interval, 0))
            / nullif(n_point + n_interval, 0) AS s_nr
    FROM pools
)
SELECT
    axis, level, reading, pass_rate, med_nrel_err, mean_nrel_err, s_nr, f1_loss, med_f1_loss,
    ( n_pass * (1 - coalesce(pass_rate, 0))
    + n_nrel * coalesce(s_nr, 0)
    + n_f1 * coalesce(f1_loss, 0) ) / nullif(n_pass + n_nrel + n_f1, 0) AS causalds_score,
    n_pass, n_nrel, n_f1
FROM numeric
ORDER BY axis, level, reading;
