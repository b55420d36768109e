import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from types import ModuleType

import pytest

import ultracluster_catalog

_MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(ultracluster_catalog.__path__, "ultracluster_catalog.")
    if not module.ispkg
]


def test_every_public_name_is_unique_in_the_catalogue() -> None:
    public = [name for module in _MODULES for name in _public(module)]

    assert len(set(public)) == len(public) > 50


@pytest.mark.parametrize("module", _MODULES, ids=lambda module: module.__name__)
def test_every_row_of_facts_is_frozen_slotted_and_built_by_keywords(module: ModuleType) -> None:
    facts = [value for value in (getattr(module, name) for name in _public(module)) if _is_fact(value)]

    for fact in facts:
        assert vars(fact)["__dataclass_params__"].frozen
        assert "__slots__" in vars(fact)
        assert all(field.kw_only for field in dataclasses.fields(fact))


def test_there_are_rows_of_facts() -> None:
    assert sum(_is_fact(getattr(module, name)) for module in _MODULES for name in _public(module)) > 5


def test_no_row_is_without_a_source_and_a_date() -> None:
    seen: dict[int, object] = {}
    for module in _MODULES:
        _collect([getattr(module, name) for name in _public(module)], seen)
    rows = [row for row in seen.values() if hasattr(row, "dated")]

    assert len(rows) > 200
    for row in rows:
        assert str(getattr(row, "source", "")).strip(), row
        assert re.match(r"20[0-9]{2}-", str(getattr(row, "dated", ""))), row


def _collect(value: object, seen: dict[int, object]) -> None:
    """Add a value and everything in it, each once."""
    if id(value) in seen or isinstance(value, (str, type)):
        return
    if isinstance(value, (Mapping, list, tuple, frozenset)):
        seen[id(value)] = ()
        for part in value.values() if isinstance(value, Mapping) else value:
            _collect(part, seen)
    elif dataclasses.is_dataclass(value):
        seen[id(value)] = value
        for each in dataclasses.fields(value):
            _collect(getattr(value, each.name), seen)


def _public(module: ModuleType) -> list[str]:
    """Return the names that a module defines without an underscore."""
    targets = [
        target
        for statement in ast.parse(inspect.getsource(module)).body
        for target in (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [getattr(statement, "target", statement)]
        )
    ]
    names = [getattr(target, "id", getattr(target, "name", "_")) for target in targets]
    return [name for name in names if not name.startswith("_")]


def _is_fact(value: object) -> bool:
    return isinstance(value, type) and dataclasses.is_dataclass(value)
