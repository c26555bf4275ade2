"""Everything offline that turns a split file into a release: worlds, tasks, truths, shards."""
