"""A source file is a regular file of visible text in UTF-8, up to a size."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.stacks.config.reading.refusals import refusal

from ultracluster_stacks.config.reading.source_file import LARGEST_FILE
from ultracluster_stacks.config.reading.yaml_source import read_yaml

Write = Callable[[str | bytes], Path]


def test_takes_a_file_of_the_largest_size(write: Write) -> None:
    text = "a: 1\n"

    assert read_yaml(write(text + "#" * (LARGEST_FILE - len(text)))).values == {"a": 1}


def test_takes_a_byte_order_mark(write: Write) -> None:
    assert read_yaml(write(b"\xef\xbb\xbfa: 1\n")).values == {"a": 1}


def test_refuses_anything_but_a_regular_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")

        for name in ("fifo", "socket", "", "missing"):
            assert refusal(tmp_path / name).startswith("UC1001: ")
    assert refusal(Path("/dev/zero")).endswith("this is not a regular file. Allowed: a YAML rollout file.")


def test_counts_lines_from_the_first_byte(write: Write) -> None:
    assert "rollout.yaml:2: byte 2 is not valid UTF-8" in refusal(write(b"\n\xff"))


def test_refuses_a_path_that_no_file_can_have() -> None:
    assert refusal(Path("a\0b")) == "UC1001: a\\x00b: the path cannot be used: embedded null byte."
