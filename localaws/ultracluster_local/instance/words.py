"""Sets of words that modules check or list: data, in words.toml."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["words"]


@cache
def _table() -> Any:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def words(module: str, name: str) -> tuple[str, ...]:
    """Return the words of a module, such as the retired runtimes of ``services/lambda_functions``."""
    return tuple(_table()[module][name].split())
