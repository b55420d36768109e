"""Prices and actual costs, read from AWS."""

__all__: list[str] = []
