"""Calls that moto lacks or gets wrong, one module for each service or part of it."""

__all__: list[str] = []
