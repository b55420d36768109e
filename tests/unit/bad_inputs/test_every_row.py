"""No row of the catalogue is left out: each has an input in a table, or a test that is named after it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROWS = range(1, 91)


def test_every_row_is_tried() -> None:
    tried = Counter(number for path in Path(__file__).parent.glob("test_*.py") for number in _rows(path))

    assert sorted(tried) == list(ROWS)
    assert tried.total() > 200


def _rows(path: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Name(id="refused" | "taken"), args=[ast.Constant(value=int(number)), *_]):
                yield number
            case ast.FunctionDef(name=name) if found := re.match(r"test_row_([0-9]+)_", name):
                yield int(found[1])
