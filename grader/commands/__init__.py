"""One module per command: ``configure(parser)`` and ``run(arguments) -> exit code``."""
