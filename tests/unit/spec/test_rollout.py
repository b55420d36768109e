"""A rollout file has the version of its format."""

from pathlib import Path

import pytest
from tests.unit.stacks.config.conftest import VALID

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config import load_rollout


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
