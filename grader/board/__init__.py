"""A leaderboard: each submission graded on its own, by workers that none of them can stop."""
