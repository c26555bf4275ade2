"""The causalds track: scenes of a hidden causal world, a story, data, and questions about them."""
