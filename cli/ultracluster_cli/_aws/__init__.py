"""Accounts, sessions and deployed state."""
