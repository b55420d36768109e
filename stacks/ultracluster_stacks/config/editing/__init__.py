"""Edit a rollout file in place."""

__all__: list[str] = []
