-- Tasks of the exam by structural motif and family (Table 11).
SELECT structure, family, count(*) AS tasks
FROM scores WHERE track = 'causalds'
GROUP BY structure, family
ORDER BY structure, family;
