"""Synthesis of a rollout into a cloud assembly."""
