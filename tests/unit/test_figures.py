"""The figures of `make figures` are those of a small tree that is counted by hand."""

from pathlib import Path
from typing import Any

import pytest
from tests.figures import figures, product_modules

FILES = {
    "constructs/ultracluster/__init__.py": '"""Package."""\n',
    "constructs/ultracluster/network.py": 'from ultracluster import rules\n\nA = "UC3001"\n',
    "constructs/ultracluster/rules.py": 'B = ["UC3001", "UC3002"]\nC = "see UC3003"\n',
    "constructs/ultracluster/table.py": f"CODES = {[f'UC{number}' for number in range(1000, 1060)]}\n",
    "cli/ultracluster_cli/main.py": (
        "def run():\n    import json\n    def inner():\n        from ultracluster.rules import B\n"
    ),
    "localaws/ultracluster_local/server/server.py": 'D = "UC3002"\n',
}


@pytest.fixture
def counted(tmp_path: Path) -> Any:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return figures(product_modules(tmp_path))


def test_lines_and_modules_are_counted_for_each_package_and_without_the_local_aws(counted: Any) -> None:
    lines = {name: row["lines"] for name, row in counted["packages"].items()}
    modules = {name: row["modules"] for name, row in counted["packages"].items()}

    assert lines == {
        "ultracluster": 7,
        "ultracluster_cli": 4,
        "ultracluster_local": 1,
        "main distribution": 11,
        "all": 12,
    }
    assert (modules["main distribution"], modules["all"]) == (5, 6)


def test_imports_of_nested_functions_are_counted_once(counted: Any) -> None:
    assert counted["packages"]["all"]["imports_in_functions"] == 2


def test_a_code_counts_where_it_is_stated_and_not_in_tables_or_prose(counted: Any) -> None:
    assert counted["codes_in_several_modules"] == 2
    assert counted["codes_in_modules"] == {2: 2}


def test_what_one_module_alone_imports_is_counted(counted: Any) -> None:
    # rules.py is imported by network.py and main.py, the package by network.py only.
    assert counted["packages"]["ultracluster"]["imported_once"] == 1


def test_the_fullest_folder_comes_first(counted: Any) -> None:
    assert next(iter(counted["files_per_folder"].values())) == 3
