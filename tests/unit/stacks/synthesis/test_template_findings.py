"""Findings of the template check at the places of the rollout file."""

from pathlib import Path

import pytest

from ultracluster_spec.findings import Finding
from ultracluster_stacks.synthesis.template_findings import at_their_lines

_ROLLOUT = """version: 1
defaults:
  network: {cidr: 10.0.0.0/16}
waves:
  - name: first
    clusters:
      - name: a
        region: us-east-2
        file_system: {}
        jobs:
          - name: pretrain
            environment: {FI_PROVIDER: tcp}
"""


@pytest.mark.parametrize(
    ("construct", "problem", "line", "path"),
    [
        ("a-us-east-2/Cluster/Cluster/pretrain/Resource", "FI_PROVIDER: got tcp", 12, ".jobs[0].environment.FI_PROVIDER"),
        ("a-us-east-2/Cluster/Cluster/pretrain/Resource", "no limit", 11, ".jobs[0]"),
        ("rehearsal-a-us-east-2/Storage/FileSystem", "files are lost", 9, ".file_system"),
        ("a-us-east-2/Cluster/Cluster/Queue", "no node starts", 7, ""),
    ],
)  # fmt: skip
def test_a_finding_names_the_line_it_comes_from(
    construct: str, problem: str, line: int, path: str, tmp_path: Path
) -> None:
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(_ROLLOUT)
    found = Finding("UC6417", problem, path="Properties", location=construct)

    (finding,) = at_their_lines([found], str(rollout))

    assert finding.location.endswith(f":{line}")
    assert finding.path == f"waves[0].clusters[0]{path}"
    assert finding.problem == f"{construct}: {problem}"


def test_what_is_inherited_is_at_the_defaults_and_what_has_a_line_stays(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(_ROLLOUT)
    inherited = Finding("UC3201", "closed", location="a-us-east-2/Network/Group")
    other = Finding("UC1001", "wrong", location="rollout.yaml:3")

    first, second = at_their_lines([inherited, other], str(rollout))

    assert (first.path, first.location.rpartition(":")[2]) == ("defaults.network", "3")
    assert second == other
