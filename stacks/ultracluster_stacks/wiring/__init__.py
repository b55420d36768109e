"""Translation of rollout settings into constructs."""

__all__: list[str] = []
