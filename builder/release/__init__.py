"""From a split file to a finished release: plan, build in parts, compose exams, write shards."""
