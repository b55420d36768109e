"""The source tree as data: what our modules say, read without importing them."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

SOURCE_ROOTS = ("constructs", "stacks", "cli", "localaws")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def modules(root: Path) -> Mapping[str, ast.Module]:
    """Every module of our packages, and app.py, by its dotted name."""
    files = [
        (root / source, path)
        for source in SOURCE_ROOTS
        for path in sorted((root / source).glob("ultracluster*/**/*.py"))
    ]
    files += [(root, path) for path in root.glob("app.py")]
    return {
        _dotted(path.relative_to(source)): ast.parse(path.read_text(), str(path)) for source, path in files
    }


@pytest.fixture(scope="session")
def ignored(root: Path) -> frozenset[str]:
    """Names of files and folders that .gitignore keeps out of the repository."""
    lines = (root / ".gitignore").read_text().splitlines()
    return frozenset(line.strip("/") for line in lines if line and not line.startswith("#")) | {".git"}


@pytest.fixture(scope="session")
def texts(root: Path, ignored: frozenset[str]) -> Mapping[str, str]:
    """Every text file of the repository, by its path from the root."""
    return {path.relative_to(root).as_posix(): text for path, text in _texts(root, ignored)}


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _texts(folder: Path, ignored: frozenset[str]) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.iterdir()):
        if path.name in ignored:
            continue
        if path.is_dir():
            yield from _texts(path, ignored)
        else:
            try:
                yield path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a picture
