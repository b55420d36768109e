"""Locate files of the repository that a new project starts from."""

from pathlib import Path

__all__ = ["shipped"]


def shipped(path: str) -> Path:
    """Return the path of a file of the repository, which wheels contain beside this module.

    Args:
        path: Path from the root of the repository; pyproject.toml lists the files in wheels.
    """
    inside = Path(__file__).with_name("shipped_files")
    return (inside if inside.is_dir() else Path(__file__).parents[3]) / path
