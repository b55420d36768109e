"""Python as it might be on another machine: folders are listed in another order, and it is another year.

Python imports this by itself when its folder is in PYTHONPATH.
"""

import os
import time
from collections.abc import Iterator
from typing import Any, Self

_YEAR = 366 * 24 * 3600

_listdir, _scandir, _time = os.listdir, os.scandir, time.time


class _Backwards:
    """What `os.scandir` gives, from the end to the beginning."""

    def __init__(self, path: Any) -> None:
        with _scandir(path) as entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name, reverse=True))

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open."""


os.listdir = lambda path=".": sorted(_listdir(path), reverse=True)  # type: ignore[assignment]
os.scandir = lambda path=".": _Backwards(path)  # type: ignore[assignment,return-value]
time.time = lambda: _time() + _YEAR
