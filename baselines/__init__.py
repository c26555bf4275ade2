"""Reference solvers without a language model: ``python -m baselines --list`` names them."""
