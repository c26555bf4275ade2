"""A reader of stories, written without a look at how they are told."""
