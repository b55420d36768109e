"""Files that people wrote for earlier releases: each form of the file that was ever published loads, or says what to do.

`compatibility` has ready rollouts as they were when they were published. They are never edited: add one for each new
version, and before a version goes, a command that rewrites it.
"""

from pathlib import Path
from typing import get_args

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config import RolloutConfig, load_rollout

WRITTEN = sorted((Path(__file__).parent / "compatibility").glob("*.yaml"))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_a_file_that_was_published_loads(path: Path) -> None:
    assert load_rollout(path).config.waves


def test_there_is_a_file_of_every_version_that_is_read() -> None:
    versions = {int(path.name.split("-")[1]) for path in WRITTEN}

    assert versions == set(get_args(RolloutConfig.model_fields["version"].annotation))


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("2", "Upgrade ultracluster"),
        ("0", "this version never existed"),
        ('"1"', "without quotes"),
        ("1.0", "an integer without quotes"),
    ],
)
def test_another_version_is_refused_with_what_to_do(tmp_path: Path, version: str, said: str) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(VALID.replace("version: 1", f"version: {version}"))

    with pytest.raises(FindingsError) as refused:
        load_rollout(path)

    (finding,) = refused.value.findings
    assert finding.code == "UC1023"
    assert said in str(finding)
    assert finding.location.endswith(":1")
