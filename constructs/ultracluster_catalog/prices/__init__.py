"""Prices and billable items."""

__all__: list[str] = []
