"""Lambda functions run as local processes."""

__all__: list[str] = []
