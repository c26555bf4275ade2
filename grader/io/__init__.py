"""Files in and out: strict JSON, Parquet, schemas, and a release on disk."""
