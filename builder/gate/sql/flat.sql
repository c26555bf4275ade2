-- The config `tasks` says what the tracks' configs say, and the right answer where truth is public.
SELECT 'tasks: ' || coalesce(flat.task_id, own.task_id) || ' is absent' AS problem
FROM flat FULL JOIN tasks AS own USING (split, task_id)
WHERE flat.task_id IS NULL OR own.task_id IS NULL
UNION ALL
SELECT 'tasks: ' || flat.task_id || ' is not as its track''s config has it'
FROM flat JOIN tasks AS own USING (split, task_id)
WHERE flat.content IS DISTINCT FROM own.content
UNION ALL
SELECT 'tasks: ' || flat.task_id || ' has an answer, and its truth is private'
FROM flat JOIN tasks AS own USING (split, task_id)
WHERE own.private AND flat.answer IS NOT NULL
UNION ALL
SELECT 'tasks: the answer to ' || flat.task_id || ' is not the right one'
FROM flat JOIN tasks AS own USING (split, task_id) LEFT JOIN answers USING (task_id)
WHERE NOT own.private AND flat.content = own.content AND sha256(flat.answer) IS DISTINCT FROM answers.sha256
ORDER BY problem
