"""Files in and out: strict JSON, Parquet, schemas, names and paths, text for a terminal."""
