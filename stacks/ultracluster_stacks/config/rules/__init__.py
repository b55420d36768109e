"""Rules across the fields of a rollout."""
