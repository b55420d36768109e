import ast
import dataclasses
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import ultracluster_catalog

_MODULES = [module.name for module in pkgutil.iter_modules(ultracluster_catalog.__path__)]


def test_offers_every_public_name_of_its_modules_once() -> None:
    public = [
        name
        for module in _MODULES
        for name in importlib.import_module(f"ultracluster_catalog.{module}").__all__
    ]
    assert len(set(public)) == len(public) > 50
    assert ultracluster_catalog.__all__ == sorted(public)


def test_a_type_checker_is_told_of_every_module() -> None:
    tree = ast.parse(Path(ultracluster_catalog.__file__).read_text())
    told = [
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and [each.name for each in node.names] == ["*"]
    ]

    assert told == [f"ultracluster_catalog.{module}" for module in sorted(_MODULES)]


def test_a_name_is_the_same_object_here_and_in_its_module() -> None:
    for module in _MODULES:
        loaded = importlib.import_module(f"ultracluster_catalog.{module}")
        for name in loaded.__all__:
            assert getattr(ultracluster_catalog, name) is getattr(loaded, name)


def test_every_row_of_facts_is_frozen_slotted_and_built_by_keywords() -> None:
    facts = [
        value
        for value in (getattr(ultracluster_catalog, name) for name in ultracluster_catalog.__all__)
        if isinstance(value, type)
        and dataclasses.is_dataclass(value)
        and value is not ultracluster_catalog.Rule
    ]
    assert len(facts) > 5
    for fact in facts:
        assert vars(fact)["__dataclass_params__"].frozen
        assert "__slots__" in vars(fact)
        assert all(field.kw_only for field in dataclasses.fields(fact))


def test_lists_its_names_to_an_interactive_user() -> None:
    assert set(ultracluster_catalog.__all__) <= set(dir(ultracluster_catalog))


def test_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="'ultracluster_catalog' has no attribute 'trn2'"):
        ultracluster_catalog.trn2  # type: ignore[attr-defined]  # noqa: B018 - the access is the test


@pytest.mark.process
def test_loads_nothing_but_what_is_asked_for() -> None:
    script = (
        "import sys, ultracluster_catalog\n"
        "before = {name for name in sys.modules if name.startswith('ultracluster_catalog.')}\n"
        "from ultracluster_catalog import findings\n"
        "hasattr(ultracluster_catalog, '__wrapped__')\n"
        "early = 'ultracluster_catalog.places.addresses' in sys.modules\n"
        "ultracluster_catalog.subnet_prefix(20)\n"
        "print(before, early, 'ultracluster_catalog.prices.prices' in sys.modules)\n"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert finished.stdout == "set() False False\n"
