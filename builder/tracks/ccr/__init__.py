"""The ccr track: contexts whose causal quantities compose, and whether answers do."""
