"""Files of the repository, which wheels contain beside this module."""

from pathlib import Path


def shipped(path: str) -> Path:
    """Return the path of such a file."""
    inside = Path(__file__).with_name("shipped_files")
    return (inside if inside.is_dir() else Path(__file__).parents[3]) / path
