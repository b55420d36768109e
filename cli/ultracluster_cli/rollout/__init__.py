"""`ultracluster rollout`."""

__all__: list[str] = []
