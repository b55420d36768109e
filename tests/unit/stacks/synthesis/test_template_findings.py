"""Findings of the template check at the places of the rollout file."""

import json
from pathlib import Path

import pytest

from ultracluster_stacks.synthesis.template_findings import take_findings

_ROLLOUT = """version: 1
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
        (
            "a-us-east-2/Cluster/Cluster/pretrain/Resource",
            "FI_PROVIDER: got tcp",
            10,
            ".jobs[0].environment.FI_PROVIDER",
        ),
        ("a-us-east-2/Cluster/Cluster/pretrain/Resource", "no limit", 9, ".jobs[0]"),
        ("rehearsal-a-us-east-2/Storage/FileSystem", "files are lost", 7, ".file_system"),
        ("a-us-east-2/Network/Group", "open", 5, ""),
    ],
)
def test_a_finding_names_the_line_it_comes_from(
    construct: str, problem: str, line: int, path: str, tmp_path: Path
) -> None:
    rollout, report = tmp_path / "rollout.yaml", tmp_path / "validation-report.json"
    rollout.write_text(_ROLLOUT)
    violation = {
        "ruleName": "UC6417",
        "description": problem,
        "violatingConstructs": [{"constructPath": construct}],
    }
    other = {"pluginName": "Construct Annotations", "violations": []}
    report.write_text(
        json.dumps({"pluginReports": [{"pluginName": "ultracluster", "violations": [violation]}, other]})
    )

    (finding,) = take_findings(tmp_path, str(rollout))

    assert finding.location.endswith(f":{line}")
    assert finding.path == f"waves[0].clusters[0]{path}"
    assert json.loads(report.read_text())["pluginReports"] == [other]
    assert take_findings(tmp_path, str(rollout)) == ()
