"""The score table, its aggregates as SQL, the report, and what of it may be shown."""
