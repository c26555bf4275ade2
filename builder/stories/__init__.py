"""Names and stories: how a hidden graph becomes something a person can read."""
