"""Submit jobs again that a drain or a lost node has ended, as often as they ask for."""

__all__: list[str] = []
