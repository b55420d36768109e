"""Locate files of the repository that a new project starts from."""

from pathlib import Path

__all__ = ["shipped"]


def shipped(path: str) -> Path:
    """Return the path of a file: in a wheel beside this module, in a checkout in its own place.

    Args:
        path: Its path from the root of the repository; pyproject.toml lists those that the wheel has.
    """
    inside = Path(__file__).with_name("shipped_files")
    return (inside if inside.is_dir() else Path(__file__).parents[3]) / path
