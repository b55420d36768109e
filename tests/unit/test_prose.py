"""The sample of `make prose` is drawn from all that people read, and from nothing else."""

from pathlib import Path

import pytest
from tests.figures import Module, product_modules
from tests.prose import comments, docstrings, messages

SOURCE = '''#!/usr/bin/env python3
"""Check a network.

More of it.
"""

# The first of two lines,
# and the second.
SIZE = 4  # in bytes


class Network:
    """A network."""

    def check(self, cidr):
        import json  # noqa: PLC0415 - slow
        if not cidr:
            raise ValueError("no cidr")
        problem = "too small"
        return Finding(code="UC3001", problem=f"got {cidr!r}", allowed="a /16", path="cidr")
'''


@pytest.fixture
def module(tmp_path: Path) -> Module:
    path = tmp_path / "constructs/ultracluster/network.py"
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    (found,) = product_modules(tmp_path)
    return found


def test_docstrings_are_shown_by_their_first_line(module: Module) -> None:
    assert list(docstrings(module)) == [(2, "Check a network."), (13, "A network.")]


def test_comments_are_shown_whole_and_directives_are_not(module: Module) -> None:
    assert list(comments(module)) == [(7, "The first of two lines, and the second."), (9, "in bytes")]


def test_messages_are_those_of_findings_and_exceptions(module: Module) -> None:
    assert sorted(messages(module)) == [
        (18, "no cidr"),
        (19, "too small"),
        (20, "a /16"),
        (20, "got {cidr}"),
    ]
