"""Edit a rollout file in place."""
