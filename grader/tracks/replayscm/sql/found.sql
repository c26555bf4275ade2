-- Of every program of the pools with more and more evidence: whether an alternative was found, that is
-- an answer that replays every training world but has another function somewhere (Table F.11 pools
-- these over systems).
SELECT
    CASE WHEN structure LIKE '%-Full' THEN replace(structure, '-Full', '-Match') ELSE structure END
                                                                           AS pool,
    instance_id                                                            AS program,
    coalesce(CAST(CAST(extra_json AS JSON)->>'$.alternative' AS DOUBLE), 0) = 1 AS alternative
FROM scores
WHERE track = 'replayscm'
  AND (structure IN ('Ord-Ext', 'Ord-CEx', 'Ord-Cert', 'Hid-Ext', 'Hid-CEx', 'Hid-Cert')
       OR (structure LIKE '%-Full' AND CAST(CAST(extra_json AS JSON)->>'$.matched' AS INTEGER) = 1))
ORDER BY pool, program;
