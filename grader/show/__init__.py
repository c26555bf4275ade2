"""Ways of looking at reports: terminal tables and a self-contained HTML page."""
