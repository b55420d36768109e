"""Rules across the fields of a rollout."""

__all__: list[str] = []
