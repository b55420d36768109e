"""Each code is stated in one module, and the test that shows its rule names it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ultracluster_rules.registry import RULES

CODE = re.compile(r"\bUC\d{4}\b")
STATED = re.compile(r'"(UC\d{4})"')
SOURCE_ROOTS = ("constructs", "stacks", "cli", "localaws/ultracluster_local")
TABLE_OF_CODES = 50
"""A module with more codes than this is the registry, or a table of it, and states no rule."""
SHOWN = {code: rule.shown_by for code, rule in RULES.items() if rule.shown_by}


def test_a_code_is_stated_in_one_module(root: Path) -> None:
    modules = [path for folder in SOURCE_ROOTS for path in (root / folder).rglob("*.py")]
    stated = {path: set(STATED.findall(path.read_text("utf-8"))) for path in modules}
    counted = Counter(code for codes in stated.values() if len(codes) <= TABLE_OF_CODES for code in codes)

    assert [code for code, places in counted.items() if places > 1] == []


def test_the_test_that_shows_a_rule_names_its_code(root: Path) -> None:
    places = {code: place.split("::") for code, place in SHOWN.items()}

    assert {
        code: place
        for code, place in places.items()
        if code not in CODE.findall(_text_of(root / place[0], place[1]))
    } == {}


def test_a_test_that_does_not_name_a_code_is_seen(root: Path) -> None:
    path, _, name = SHOWN["UC1002"].partition("::")

    assert "UC7001" not in CODE.findall(_text_of(root / path, name))
    assert _text_of(root / path, "no_such_test") == ""


def _text_of(path: Path, name: str) -> str:
    """The text of a test or of a helper of tests, and of the tables of its module that it names."""
    definitions = dict(_definitions(path))
    own = definitions.get(name, "")
    tables = [text for table, text in definitions.items() if re.search(rf"\b{table}\b", own)]
    return "\n".join([own, *tables]) if own else ""


@cache
def _definitions(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple(_read_definitions(path.read_text(encoding="utf-8")))


def _read_definitions(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines()
    for node in ast.parse(source).body:
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        first = min([node.lineno, *(each.lineno for each in decorators)])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef):
            yield node.name, text
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((each.id, text) for each in targets if isinstance(each, ast.Name))
