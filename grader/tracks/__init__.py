"""One scorer package per track."""
