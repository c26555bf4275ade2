-- CausalDS Eq. 2-4 of both readings along every axis; $1 is the cap c on an interval's loss. The
-- formulas are those of readings.sql. mean_nrel_err is the mean over the tasks of med_nrel_err: it
-- shows the tail that a median hides (Table 6).
WITH pools AS (
    SELECT
        axis, level, reading,
        count(*) FILTER (losses.pool = 'pass')             AS n_pass,
        count(*) FILTER (losses.pool = 'nrel_point')       AS n_point,
        count(*) FILTER (losses.pool = 'nrel_interval')    AS n_interval,
        count(*) FILTER (losses.pool = 'f1')               AS n_f1,
        1 - avg(losses.loss) FILTER (losses.pool = 'pass') AS pass_rate,
        median(losses.loss) FILTER (losses.pool IN ('nrel_point', 'nrel_interval')) AS med_nrel_err,
        avg(losses.loss) FILTER (losses.pool IN ('nrel_point', 'nrel_interval'))    AS mean_nrel_err,
        CASE WHEN reading = 'paper' THEN median(losses.loss) FILTER (losses.pool = 'nrel_point')
             ELSE avg(least(losses.loss, $1)) FILTER (losses.pool = 'nrel_point') END AS m_point,
        avg(least(losses.loss, $1)) FILTER (losses.pool = 'nrel_interval')          AS m_interval,
        median(losses.loss) FILTER (losses.pool = 'f1')    AS med_f1_loss,
        CASE WHEN reading = 'paper' THEN median(losses.loss) FILTER (losses.pool = 'f1')
             ELSE avg(losses.loss) FILTER (losses.pool = 'f1') END AS f1_loss
    FROM losses JOIN axes USING (task_id)
    WHERE losses.track = 'causalds'
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
