"""From a folder or a packed file to checked answers: find, bound, parse, check."""
