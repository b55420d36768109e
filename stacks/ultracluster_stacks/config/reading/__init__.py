"""Read YAML with source positions and defaults."""
