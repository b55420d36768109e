"""Record metrics, and compare those of bake-offs."""
