"""Split files: their settings, secrets and keys, and the record that describes a track."""
