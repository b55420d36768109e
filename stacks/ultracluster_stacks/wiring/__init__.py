"""Translate rollout settings into constructs."""
