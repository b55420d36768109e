"""Load and validate a rollout file."""

__all__: list[str] = []
