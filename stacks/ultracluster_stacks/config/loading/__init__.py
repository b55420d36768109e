"""Load and validate a rollout file."""
