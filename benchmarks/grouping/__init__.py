"""How good and how fast the groupings are, on real and on synthetic codes."""
