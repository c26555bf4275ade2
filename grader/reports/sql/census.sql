-- How many tasks ended in which status; must add up to the number of tasks.
SELECT status, reason, count(*) AS tasks
FROM scores
GROUP BY status, reason
ORDER BY status, reason;
