"""What a task, an answer, a shape, a score and a track are; how an answer is routed and scored."""
