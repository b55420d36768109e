"""Prices and actual costs, read from AWS."""
