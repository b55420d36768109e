"""The tests of the local AWS, like the local AWS, know nothing of the product, so that they can contradict it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def is_foreign(package: str) -> bool:
    return package.startswith(("ultracluster", "aws_cdk")) and package != "ultracluster_local"


def test_no_test_imports_the_product() -> None:
    assert {
        str(path.relative_to(TESTS)): name
        for path in TESTS.rglob("*.py")
        for name in imported(path.read_text("utf-8"))
        if is_foreign(name)
    } == {}


@pytest.mark.parametrize(
    ("line", "foreign"),
    [
        ("import ultracluster", True),
        ("def f():\n    from ultracluster_catalog.places import zones", True),
        ("from ultracluster_local import LocalAws", False),
    ],
)
def test_an_import_of_the_product_is_seen(line: str, *, foreign: bool) -> None:
    assert [is_foreign(name) for name in imported(line)] == [foreign]
