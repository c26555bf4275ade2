"""The standalone grader: reads a release and a folder of answers, writes scores.

It runs with ``duckdb``, ``jsonschema`` and ``rich`` alone and never imports the builder.
"""

__version__ = "0.1.0"
