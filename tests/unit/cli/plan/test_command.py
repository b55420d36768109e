"""`ultracluster plan` with fakes of the CDK CLI and CloudFormation (the real ones: tests/integration)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.plan.fake_project import (
    TEMPLATE,
    CloudFormation,
    edited,
    write_assembly,
)

pytestmark = pytest.mark.slow


def test_a_safe_change_ends_with_0_and_leaves_no_folder(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("StorageCapacity", 9600))

    outcome = run("plan", "--against", "old")

    assert outcome.code == 0
    assert "StorageCapacity: 4800 -> 9600" in outcome.stdout
    assert "Safe to deploy: 1 to update in place" in outcome.stdout
    assert f"rollout={project / 'rollout.yaml'}" in json.loads((project / "called.json").read_text())
    assert list((project / ".ultracluster" / "tmp").iterdir()) == []
    assert not (project / "cdk.out").exists()


def test_a_dangerous_change_exits_with_3_and_shows_how_to_allow_it(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("LustreConfiguration.DeploymentType", "SCRATCH_2"))

    outcome = run("plan", "--against", "old")

    assert outcome.code == 3
    assert "a/Storage/Files" in outcome.stdout
    assert "(forces replacement)" in outcome.stdout
    assert "--allow replace:a-Storage/Files" in outcome.stdout
    assert run("plan", "--against", "old", "--allow", "replace:a-Storage/Files").code == 0


def test_json_and_markdown_together_are_refused(run: Run, project: Path) -> None:
    assert project
    assert run("plan", "--json", "--markdown").code == 2


def test_a_plan_against_the_local_aws_requires_a_running_one(run: Run, project: Path) -> None:
    assert project

    outcome = run("plan", "--local")

    assert outcome.code == 6
    assert outcome.stderr.startswith("error: no local AWS is running here")


def test_a_failed_synthesis_shows_its_output(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAILURE", "1")

    outcome = run("plan", "--against", "old")

    assert outcome.code == 2
    assert "no such luck" in outcome.stderr
    assert "cdk synth ended with code" in outcome.stderr
    assert (project / ".ultracluster" / "logs" / "cdk-synth.log").read_text() == "no such luck\n"


def test_a_rollout_whose_order_is_not_bought_is_planned_with_a_placeholder(
    run: Run, project: Path, deployed: Callable[[CloudFormation], None]
) -> None:
    write_assembly(project / "new", TEMPLATE)
    deployed(CloudFormation())
    text = (project / "rollout.yaml").read_text()
    (project / "rollout.yaml").write_text(text.replace("reservation_id: cr-", "order: december # cr-"))

    outcome = run("plan")

    assert outcome.code == 0
    assert "Placeholders stand for what is not bought yet: december\n" in outcome.stderr
    assert "purpose=plan" in json.loads((project / "called.json").read_text())
    assert "quickstart was never rehearsed in us-east-2" in outcome.stderr
