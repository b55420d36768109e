"""The progress of a rollout on stderr, and its final table."""

import json

import pytest
from tests.unit.cli.rollout.rollout_simulation import CLUSTERS, Project

pytestmark = pytest.mark.slow


def test_deploys_wave_by_wave_and_reports_progress(project: Project) -> None:
    outcome = project.rollout("--json")

    assert outcome.code == 0, outcome.stderr
    assert project.deployed()[0] == "canary-us-east-1"
    assert sorted(project.deployed()) == sorted(CLUSTERS)
    told = json.loads(outcome.stdout)
    assert told["ended"] == "finished"
    assert {one["state"] for one in told["clusters"]} == {"done"}
