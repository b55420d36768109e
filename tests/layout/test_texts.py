"""What is true of every text of the repository: nothing of one machine in it, and each error code exists once."""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from ultracluster_cli.records import ALL_RECORDS

# Homes of people; those of the images that our nodes boot from are the same everywhere.
HOME = re.compile(r"(?<![\w.])(?:/Users/(?!me\b)\w|/home/(?!ec2-user\b|ubuntu\b)\w|/root/\.)")
TESTS = ("tests/", "localaws/tests/")
CODE = re.compile(r"\bUC\d{4}\b")


def test_no_file_carries_a_path_of_one_machine(root: Path, texts: Mapping[str, str]) -> None:
    own = [text for text in (f"{root}/", f"{Path.home()}/") if text.count("/") > 2]

    assert len(texts) > 30
    assert {
        name
        for name, text in texts.items()
        if name != "tests/layout/test_texts.py" and (HOME.search(text) or any(path in text for path in own))
    } == set()


@pytest.mark.parametrize("text", ["/Users/jane/x", "in /home/jane/x", "'/root/.cache'"])
def test_a_path_of_one_machine_is_seen(text: str) -> None:
    assert HOME.search(text)


@pytest.mark.parametrize("text", ["/home/ec2-user/x", "s3://b/home/jane", "/var/x", "/root/"])
def test_a_path_of_every_machine_passes(text: str) -> None:
    assert not HOME.search(text)


def test_every_error_code_of_a_finding_is_defined(root: Path, texts: Mapping[str, str]) -> None:
    given = {
        keyword.value.value
        for path in texts
        if path.endswith(".py") and not path.startswith(TESTS)
        for node in ast.walk(ast.parse((root / path).read_text()))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
        if CODE.fullmatch(str(keyword.value.value))
    }

    assert len(given) > 100
    assert sorted(given - set(ALL_RECORDS)) == []
