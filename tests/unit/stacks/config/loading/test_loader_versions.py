"""Files that people wrote for earlier releases: each form of the file that was ever published loads, or says what to do."""

from pathlib import Path
from typing import get_args

import pytest

from ultracluster_spec.rollout import Rollout
from ultracluster_spec.values import annotations
from ultracluster_stacks.config import load_rollout

WRITTEN = sorted((Path(__file__).parent / "compatibility").glob("*.yaml"))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_a_file_that_was_published_loads(path: Path) -> None:
    assert load_rollout(path).config.waves


def test_there_is_a_file_of_every_version_that_is_read() -> None:
    versions = {int(path.name.split("-")[1]) for path in WRITTEN}

    assert versions == set(get_args(get_args(annotations(Rollout)["version"])[0]))
