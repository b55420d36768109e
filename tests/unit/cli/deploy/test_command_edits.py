"""`ultracluster deploy` of each edit of the plan's tests: a dangerous one is stopped, a safe one is deployed."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import botocore.exceptions
import pytest
from tests.fake_clients import FakeClients
from tests.unit.cli._aws.folder_bucket import FolderBucket, asset_manifest, client_of
from tests.unit.cli.conftest import Run
from tests.unit.stacks.plan import test_stops_rollout_edits as listed
from tests.unit.stacks.plan.edits import edited, kept, name_of, read

from ultracluster_cli._aws import targets
from ultracluster_cli._aws.target import Target
from ultracluster_cli._cdk.toolchain import Project
from ultracluster_cli.deploy import command as deploy
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.plan import StackTemplate

pytestmark = pytest.mark.slow

SAMPLE = 30  # every one of so many runs with `make test`; tests/unit/stacks/plan judges more of them
Deploy = Callable[[Sequence[StackTemplate], Sequence[StackTemplate] | FindingsError], tuple[int, bool]]


class CloudFormation:
    """What CloudFormation says of deployed stacks."""

    def __init__(self, templates: Mapping[str, Any]) -> None:
        self.templates = templates

    def describe_stacks(self, *, StackName: str) -> Any:  # noqa: N803 - as boto3 spells it
        if StackName not in self.templates:
            said: Any = {"Error": {"Code": "ValidationError", "Message": f"Stack {StackName} does not exist"}}
            raise botocore.exceptions.ClientError(said, "DescribeStacks")
        return {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]}

    def describe_stack_resources(self, *, PhysicalResourceId: str) -> Any:  # noqa: N803
        return {"StackResources": [{"StackName": PhysicalResourceId}]}

    def get_template(self, *, StackName: str, TemplateStage: str) -> Any:  # noqa: N803
        assert TemplateStage == "Original"
        return {"TemplateBody": self.templates[StackName]}


class Queues:
    """The queues of an account as AWS Batch lists them, each with its stack for an ARN, and the Regions of EC2."""

    def __init__(self, stacks: Sequence[StackTemplate], region: str) -> None:
        self.queues = [
            {"jobQueueArn": stack.name, "tags": resource["Properties"]["Tags"]}
            for stack in stacks
            for resource in stack.template["Resources"].values()
            if resource["Type"] == "AWS::Batch::JobQueue" and stack.region == region
        ]
        self.regions = {stack.region for stack in stacks}

    def get_paginator(self, _: str) -> Any:
        return SimpleNamespace(paginate=lambda: [{"jobQueues": self.queues}])

    def describe_regions(self) -> Any:
        return {"Regions": [{"RegionName": region} for region in self.regions]}


def write(folder: Path, stacks: Sequence[StackTemplate]) -> None:
    """Write stacks as the cloud assembly of one cluster."""
    stage = folder / "assembly-a"
    stage.mkdir(parents=True)
    inner = {"directoryName": stage.name, "displayName": stacks[0].cluster}
    outer = {"artifacts": {"a": {"type": "cdk:cloud-assembly", "properties": inner}}}
    (folder / "manifest.json").write_text(json.dumps(outer))
    artifacts = asset_manifest(stage)
    for stack in stacks:
        (stage / f"{stack.name}.json").write_text(json.dumps(stack.template))
        artifacts[stack.name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://{stack.account or 'unknown-account'}/{stack.region}",
            "properties": {"stackName": stack.name, "templateFile": f"{stack.name}.json"},
        }
    (stage / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))


@pytest.fixture
def deploy_edit(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> Deploy:
    """Deploy stacks where others are deployed; return the exit code, and whether the CDK CLI would have been run."""

    def run_deploy(
        before: Sequence[StackTemplate], after: Sequence[StackTemplate] | FindingsError
    ) -> tuple[int, bool]:
        deployed: list[Path] = []
        cloudformation = CloudFormation({stack.name: stack.template for stack in before})
        clients = client_of(cloudformation, FolderBucket(project / "s3"))

        def client(service: str, region: str | None) -> Any:
            return Queues(before, region or "") if service in {"batch", "ec2"} else clients(service)

        def account(_: str | None = None) -> Target:
            return Target(
                name="an account",
                local=False,
                environment=os.environ,
                account="123456789012",
                client=FakeClients(client),
            )

        def deploy_to(*_: object, assembly: Path, **__: Any) -> tuple[list[Any], list[Any]]:
            deployed.append(assembly)
            return [], []

        def synthesize(_: Project, output: Path, **__: Any) -> None:
            if isinstance(after, FindingsError):
                raise after
            write(output, after)

        write(project / "cdk.out", before)
        monkeypatch.setattr(targets, "account", account)
        monkeypatch.setattr(Project, "synthesize", synthesize)
        monkeypatch.setattr(deploy, "deploy_to", deploy_to)
        outcome = run("deploy", "--yes")
        assert deployed in ([], [project / "cdk.out"])
        return outcome.code, bool(deployed)

    return run_deploy


ROWS = [
    pytest.param(edit, expected, id=name_of(edit), marks=() if number % SAMPLE == 0 else pytest.mark.deep)
    for kind, expected in (
        ("dangerous", (ExitCode.STOPPED, False)),
        ("safe", (ExitCode.DONE, True)),
    )
    for number, edit in enumerate(read("earlier")[kind] + read("template")[kind])
]


@pytest.mark.parametrize(("edit", "expected"), ROWS)
def test_an_edit_of_a_template_is_stopped_only_if_it_is_dangerous(
    deploy_edit: Deploy, edit: dict[str, Any], expected: tuple[int, bool]
) -> None:
    stacks = kept(edit["of"])
    (first, *_) = (stack.cluster for stack in stacks)
    before = edited([stack for stack in stacks if stack.cluster == first], {"edits": edit.get("before", [])})

    assert deploy_edit(before, edited(before, edit)) == expected


def rollout_edits(kind: str) -> list[Any]:
    return [
        pytest.param(edit, id=name_of(edit), marks=pytest.mark.deep if number % SAMPLE else ())
        for number, edit in enumerate(listed.EDITS[kind])
    ]


@pytest.mark.parametrize("edit", rollout_edits("dangerous"))
def test_a_listed_edit_of_a_rollout_that_is_dangerous_is_refused_or_stopped(
    deploy_edit: Deploy, project: Path, edit: dict[str, Any]
) -> None:
    (project / "rollout.yaml").write_text(json.dumps(listed.rollout_of(edit)))
    try:
        after: list[StackTemplate] | FindingsError = listed.synthesized(edit, project)
    except FindingsError as error:
        after = error

    assert deploy_edit(listed.deployed_before(edit), after) in (
        (ExitCode.FINDINGS, False),
        (ExitCode.STOPPED, False),
    )


@pytest.mark.parametrize("edit", rollout_edits("safe"))
def test_a_listed_edit_of_a_rollout_that_is_safe_is_deployed(
    deploy_edit: Deploy, project: Path, edit: dict[str, Any]
) -> None:
    (project / "rollout.yaml").write_text(json.dumps(listed.rollout_of(edit)))

    assert deploy_edit(listed.deployed_before(edit), listed.synthesized(edit, project)) == (
        ExitCode.DONE,
        True,
    )
