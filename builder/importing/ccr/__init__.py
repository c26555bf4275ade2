"""The public ccr reference's tables as a release."""
