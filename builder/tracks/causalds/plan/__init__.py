"""Plan scenes: settings, composition, and the plan of every scene."""
