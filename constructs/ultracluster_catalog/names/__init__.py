"""Identifiers and tags."""
