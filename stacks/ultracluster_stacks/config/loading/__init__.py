"""Loading and validating a rollout file."""

__all__: list[str] = []
