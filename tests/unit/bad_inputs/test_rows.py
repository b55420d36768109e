"""How `ultracluster validate` reacts to bad inputs: rows of the catalogue, and inputs that are made."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.bad_inputs.rows import ROWS, Row, edited
from tests.unit.stacks.config.conftest import VALID

Reaction = Callable[[str | bytes], tuple[int, tuple[str, ...]]]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_reacts(reaction: Callable[..., tuple[int, tuple[str, ...]]], row: Row) -> None:
    assert reaction(row.text, says=row.says) == (row.exit_code, row.reaction)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"version: {'[' * 2_000}{']' * 2_000}\n", "UC1007 1"),
        ("".join(f"{' ' * level}a:\n" for level in range(500)), "UC1007 22"),
        (edited([["nodes: 4", f"nodes: {'9' * 5_000}"]]), "UC1014 12 @.nodes"),
        (
            edited(
                [
                    [
                        "environment: {NEURON_RT_LOG_LEVEL: INFO}",
                        f'environment:\n              TEXT: "{"x" * 24_576}"',
                    ]
                ]
            ),
            "UC6411 25 @.jobs[0].environment.TEXT",
        ),
        (
            edited([["[train.py]", f"[{', '.join(f'--option={number}' for number in range(1_600))}]"]]),
            "UC6411 23 @.jobs[0].command",
        ),
    ],
    ids=[
        "row 4: 2,000 levels in flow style",
        "row 4: 500 levels in block style",
        "row 6: a number of 5,000 digits",
        "row 91: a variable as large as a definition",
        "row 92: a command above the size of a definition",
    ],
)
def test_refuses_what_is_too_large_at_its_place(reaction: Reaction, text: str, found: str) -> None:
    assert reaction(text) == (2, (found,))


def test_row_2_an_alias_bomb_is_refused_by_each_anchor_and_alias(reaction: Reaction) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))

    exit_code, found = reaction(bomb)

    assert exit_code == 2
    assert sum(each.startswith("UC1008") for each in found) == 9 + 8 * 10


def test_row_5_a_file_of_10_mb(reaction: Reaction) -> None:
    assert reaction("#" * 10_000_000) == (2, ("UC1002",))


def test_row_5_very_many_keys_in_a_file_that_is_small(reaction: Reaction) -> None:
    exit_code, found = reaction("".join(f"k{n}: 1\n" for n in range(20_000)))

    assert exit_code == 2
    assert len(found) == 1_000
    assert found[2:4] == ("UC1020 1 k0", "UC1020 2 k1")
    assert found[-1] == "UC1031"


def test_row_5_a_file_with_just_as_many_problems_as_are_shown(reaction: Reaction) -> None:
    found = reaction("".join(f"k{n}: 1\n" for n in range(998)))[1]  # and two keys are missing

    assert len(found) == 1_000
    assert not any(each.startswith("UC1031") for each in found)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbf" + VALID.encode(), (0, ())),
        (VALID.replace("research", "caf\xe9").encode("latin-1"), (2, ("UC1003 4",))),
        (VALID.encode("utf-16"), (2, ("UC1003 1",))),
    ],
    ids=["row 19: a byte order mark", "row 19: Latin-1", "row 19: UTF-16"],
)
def test_row_19_other_encodings(reaction: Reaction, content: bytes, expected: object) -> None:
    assert reaction(content) == expected


def test_row_24_a_base_that_is_a_link_out_of_the_folder(reaction: Reaction, tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to("/etc/passwd")

    assert reaction("version: 1\nbase: link.yaml\n") == (2, ("UC2224 2 base",))


@pytest.mark.parametrize("kind", ["pipe", "folder", "missing"])
def test_row_24_a_base_other_than_a_file(reaction: Reaction, tmp_path: Path, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(tmp_path / "base.yaml")
    elif kind == "folder":
        (tmp_path / "base.yaml").mkdir()

    assert reaction("version: 1\nbase: base.yaml\n") == (2, ("UC1001 base.yaml",))
