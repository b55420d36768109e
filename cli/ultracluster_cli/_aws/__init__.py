"""Accounts, sessions and deployed state."""

__all__: list[str] = []
