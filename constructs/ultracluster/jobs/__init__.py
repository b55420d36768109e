"""Job definitions, launchers, gates and precompilation."""

__all__: list[str] = []
