-- An exam names each task once; that the tasks exist, `verify` has seen. In a private split each
-- task is in one exam, and one hidden world in one task and view: what a row tells must not be the
-- answer to another. Where the protocol is the whole instance, all its tasks are in one exam.
SELECT 'exam ' || exam || ': a task or a position appears twice' AS problem
FROM places GROUP BY split, track, exam
HAVING count(DISTINCT task_id) < count(*) OR count(DISTINCT position) < count(*)
UNION ALL
SELECT task_id || ': in ' || count(exam) || ' exams of a private split, not 1'
FROM tasks LEFT JOIN places USING (split, track, task_id)
WHERE private GROUP BY task_id HAVING count(exam) <> 1
UNION ALL
SELECT instance_id || ': its tasks are in ' || count(DISTINCT exam)
  || ' exams of a private split, not 1'
FROM tasks JOIN places USING (split, track, task_id)
WHERE private AND protocol GROUP BY instance_id HAVING count(DISTINCT exam) > 1
UNION ALL
SELECT instance_id || ': ' || count(task_id) || ' tasks in a private split, not 1'
FROM (SELECT DISTINCT * EXCLUDE (view) FROM instances)
LEFT JOIN tasks USING (split, track, instance_id, private, protocol)
WHERE private AND NOT protocol GROUP BY instance_id HAVING count(task_id) <> 1
UNION ALL
SELECT instance_id || ': ' || count(*) || ' views in a private split, not 1'
FROM instances WHERE private AND NOT protocol GROUP BY instance_id HAVING count(*) > 1
ORDER BY problem
