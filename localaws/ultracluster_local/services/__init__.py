"""API operations that moto lacks or gets wrong, a module per service or part of it."""

__all__: list[str] = []
