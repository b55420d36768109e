"""Prices and billable items."""
