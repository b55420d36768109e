"""Stacks are those of the stages of a cloud assembly, each compared in the account that it belongs to."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli._aws.two_accounts import TARGETS, stack
from tests.unit.cli.conftest import Run
from tests.unit.cli.plan.fake_project import (
    TEMPLATE,
    CloudFormation,
    edited,
    write_assembly,
)

from ultracluster_cli.plan.stacks import assembled_stacks, deployed_stacks
from ultracluster_spec.findings import FindingsError


def test_each_stack_is_read_from_the_account_of_its_cluster(tmp_path: Path) -> None:
    stacks = [stack("b", "222222222222", tmp_path), stack("a", None, tmp_path)]

    assert {one.name for one in deployed_stacks(stacks, TARGETS)} == {"a-Cluster", "b-Cluster"}


def test_a_profile_of_another_account_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"error: .*belongs to account 333333333333"):
        deployed_stacks([stack("b", "333333333333", tmp_path)], TARGETS)


@pytest.mark.slow
def test_compares_with_the_deployed_stacks(run: Run, project: Path, deployed: Callable[..., None]) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))

    for template in (TEMPLATE, json.dumps(TEMPLATE)):  # boto3 gives JSON as values, YAML as text
        deployed(CloudFormation(template))
        outcome = run("plan")
        assert outcome.code == 3
        assert "account 123456789012" in outcome.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("account", "code"), [("123456789012", 0), ("210987654321", 2)])
def test_a_stack_of_another_account_is_not_taken_for_new(
    run: Run, project: Path, deployed: Callable[..., None], account: str, code: int
) -> None:
    write_assembly(project / "new", TEMPLATE, account=account)
    deployed(CloudFormation())

    outcome = run("plan")

    assert outcome.code == code
    assert ("belongs to account" in outcome.stderr) is (code == 2)


@pytest.mark.slow
def test_a_folder_other_than_an_assembly_is_refused(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)

    assert "is not a cloud assembly" in run("plan", "--against", "nowhere").stderr


@pytest.mark.slow
def test_another_wave_is_not_taken_for_gone(run: Run, project: Path) -> None:
    write_assembly(project / "new", TEMPLATE)
    write_assembly(project / "both", TEMPLATE)
    manifest = json.loads((project / "both" / "manifest.json").read_text())
    manifest["artifacts"]["b"] = {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": "assembly-b", "displayName": "b-us-east-2"},
    }
    (project / "both" / "manifest.json").write_text(json.dumps(manifest))
    (project / "both" / "assembly-b").mkdir()
    text = (project / "both" / "assembly-a" / "manifest.json").read_text().replace("a-Storage", "b-Storage")
    (project / "both" / "assembly-b" / "manifest.json").write_text(text)
    (project / "both" / "assembly-b" / "t.json").write_text(json.dumps(TEMPLATE))

    assert "b-Storage (us-east-2): no longer defined" in run("plan", "--against", "both").stdout
    assert "b-Storage" not in run("plan", "--against", "both", "--wave", "first").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "cloudformation",
    [
        CloudFormation(error="ValidationError: Stack with id a-Storage does not exist"),
        CloudFormation(status="REVIEW_IN_PROGRESS"),
        CloudFormation(status="ROLLBACK_COMPLETE"),
    ],
)
def test_a_stack_that_is_not_there_is_new(
    run: Run, project: Path, deployed: Callable[..., None], cloudformation: CloudFormation
) -> None:
    write_assembly(project / "new", TEMPLATE)
    deployed(cloudformation)

    outcome = run("plan")

    assert outcome.code == 5  # this account answers nothing else
    assert "a-Storage (us-east-2): new, with 2 resources" in outcome.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "cloudformation",
    [CloudFormation("Resources: !Ref"), CloudFormation(error="AccessDenied: cloudformation:DescribeStacks")],
)
def test_an_unreadable_stack_is_not_treated_as_new(
    run: Run, project: Path, deployed: Callable[..., None], cloudformation: CloudFormation
) -> None:
    write_assembly(project / "new", TEMPLATE)
    deployed(cloudformation)

    outcome = run("plan")

    assert outcome.code == 2
    assert outcome.stderr.startswith("error: the template of ")


class AccountWithAFormerCluster(CloudFormation):
    """An account that has the stack of a cluster whose name the rollout file does not have."""

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803 - as boto3 has it
        self.error = "" if StackName.startswith("former") else f"ValidationError: {StackName} does not exist"
        return super().describe_stacks()

    def describe_regions(self) -> dict[str, Any]:
        return {"Regions": []}

    def get_paginator(self, _: str) -> Any:
        queue = {"jobQueueArn": "queue", "tags": {"ultracluster:cluster": "former"}}
        return SimpleNamespace(paginate=lambda **_: [{"jobQueues": [queue]}])

    def describe_stack_resources(self, **_: str) -> dict[str, Any]:
        return {"StackResources": [{"StackName": "former-us-east-2-Cluster"}]}


@pytest.mark.slow
@pytest.mark.parametrize(("reservation", "code"), [("cr-0123456789abcdef0", 3), ("cr-0fedcba9876543210", 0)])
def test_a_renamed_cluster_stops_while_the_former_one_has_its_reservation(
    run: Run, project: Path, deployed: Callable[..., None], reservation: str, code: int
) -> None:
    def template(block: str) -> dict[str, Any]:
        return {
            "Resources": {
                "Nodes": {"Type": "AWS::CloudWatch::Dashboard", "Properties": {"DashboardBody": block}}
            }
        }

    write_assembly(project / "new", template("cr-0123456789abcdef0"), cluster="quickstart-us-east-2")
    deployed(AccountWithAFormerCluster(template(reservation)))

    outcome = run("plan", "--allow", "unanswered")

    assert outcome.code == code
    assert ("--allow leave:former-us-east-2-Cluster" in outcome.stdout) is (code == 3)
    assert ("Also deployed, and not in the rollout file: former in us-east-2" in outcome.stderr) is (
        code == 0
    )


def write_manifest(directory: Path, artifacts: dict[str, Any]) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}))
    (directory / "t.json").write_text('{"Resources": {}}')


def stage(name: str) -> dict[str, Any]:
    return {
        "type": "cdk:cloud-assembly",
        "properties": {"directoryName": f"assembly-{name}", "displayName": name},
    }


def artifact(name: str, region: str) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": f"aws://unknown-account/{region}",
        "properties": {"stackName": name, "templateFile": "t.json"},
    }


def test_reads_the_stacks_of_stages_and_no_other_artifacts(tmp_path: Path) -> None:
    write_manifest(tmp_path, {"Tree": {"type": "cdk:tree"}, "a": stage("a-us-east-2")})
    write_manifest(tmp_path / "assembly-a-us-east-2", {"N1": artifact("a-Network", "us-east-2")})

    (read,) = assembled_stacks(tmp_path)

    assert (read.cluster, read.name, read.region, read.account) == (
        "a-us-east-2",
        "a-Network",
        "us-east-2",
        None,
    )


def test_an_assembly_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"^error: .*manifest\.json"):
        assembled_stacks(tmp_path)
