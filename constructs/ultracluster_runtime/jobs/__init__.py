"""Jobs of a cluster: submit, list, diagnose, follow and stop them."""

__all__: list[str] = []
