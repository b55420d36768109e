"""Job definitions, launchers, gates and precompilation."""
